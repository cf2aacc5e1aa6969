import ArgumentParser
import RelayStandin

struct WebPushStandinCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "webpush-standin",
    abstract: "Plays a browser's push service on loopback, for tests and demonstrations.",
    discussion: """
      Answers as RFC 8030, 8188, 8291 and 8292 ask: TTL, Urgency, Topic, content encoding, size, \
      the form of the encrypted record and the sender's VAPID token are checked. Makes ca.pem in \
      the directory (name it as webpush.trustRoots; webpush.allowPrivateAddresses must be true). \
      Prints "ready" on stdout when it listens, and appends a line to pushes.jsonl for every \
      request, the body in base64.

      Any endpoint https://host:port/push/NAME is a subscription. A name that begins with dead, \
      gone, busy, fail, slow or mute gets 404, 410, 429, 500, a delay of 3 seconds, or no answer.

      --control is that of apns-standin, without goaway and streams; statuses have the words of \
      this service.

      Example:
        zonerelay webpush-standin --listen 127.0.0.1:8444 --directory standin
      """)

  @Option(
    help: ArgumentHelp("Loopback address; port 0 lets the system choose.", valueName: "host:port"))
  var listen = "127.0.0.1:8444"

  @Option(help: ArgumentHelp("Where certificate and pushes.jsonl are.", valueName: "dir"))
  var directory: String

  @Option(
    help: ArgumentHelp("Unix socket where faults are changed while it runs.", valueName: "socket"))
  var control: String?

  func validate() throws { try StandinAddress.read(listen) }

  func perform(_ console: Console) async throws -> ExitStatus {
    let address = try StandinAddress.read(listen)
    let standin = try await WebPushStandin(
      host: address.host, port: address.port, directory: directory, control: control)
    return try await StandinAddress.serve(standin, on: address, console)
  }
}
