import ArgumentParser
import RelayStandin

struct FCMStandinCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "fcm-standin",
    abstract: "Plays Firebase Cloud Messaging on loopback, for tests and demonstrations.",
    discussion: """
      Answers as Google documents: the service account's assertion, the access token, project, \
      message, priority, ttl and size are checked. Makes in the directory what is missing: ca.pem \
      (name it as fcm.trustRoots) and service-account.json (name it as fcm.serviceAccount). Prints \
      "ready" on stdout when it listens, and appends a line to pushes.jsonl for every request.

      A device token that begins with dead, gone, busy, fail, slow or mute gets \
      SENDER_ID_MISMATCH, UNREGISTERED, QUOTA_EXCEEDED, INTERNAL, a delay of 3 seconds, or no \
      answer.

      --control is that of apns-standin, without goaway and streams; statuses have the words of \
      this service.

      Example:
        zonerelay fcm-standin --listen 127.0.0.1:8445 --directory standin
      """)

  @Option(
    help: ArgumentHelp("Loopback address; port 0 lets the system choose.", valueName: "host:port"))
  var listen = "127.0.0.1:8445"

  @Option(help: ArgumentHelp("Where certificate, account and pushes.jsonl are.", valueName: "dir"))
  var directory: String

  @Option(
    help: ArgumentHelp("Unix socket where faults are changed while it runs.", valueName: "socket"))
  var control: String?

  func validate() throws { try StandinAddress.read(listen) }

  func perform(_ console: Console) async throws -> ExitStatus {
    let address = try StandinAddress.read(listen)
    let standin = try await FCMStandin(
      host: address.host, port: address.port, directory: directory, control: control)
    return try await StandinAddress.serve(standin, on: address, console)
  }
}
