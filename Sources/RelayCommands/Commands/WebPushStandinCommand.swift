import ArgumentParser
import Logging
import RelayStandin
import ServiceLifecycle
import UnixSignals

struct WebPushStandinCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "webpush-standin",
    abstract: "Plays a browser's push service on loopback, for tests and demonstrations.",
    discussion: """
      Answers as RFC 8030, 8188, 8291 and 8292 ask: TTL, Urgency, Topic, content encoding, size, the
      form of the encrypted record and the sender's VAPID token are checked. Makes ca.pem in the
      directory (name it as webpush.trustRoots; webpush.allowPrivateAddresses must be true). Prints
      "ready" on stdout when it listens, and appends a line to pushes.jsonl for every request, the
      body in base64.

      Any endpoint https://host:port/push/NAME is a subscription. A name that begins with dead,
      gone, busy, fail, slow or mute gets 404, 410, 429, 500, a delay of 3 seconds, or no answer.

      --control is that of apns-standin, without goaway and streams; statuses have the words of
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

  func validate() throws { try StandinAddress.check(listen) }

  func perform(_ console: Console) async throws -> ExitStatus {
    let address = try StandinAddress.read(listen)
    let standin = try await WebPushStandin(
      host: address.host, port: address.port, directory: directory, control: control)
    return try await StandinAddress.serve(address, port: standin.port, console) {
      try await standin.run()
    }
  }
}

/// What the stand-ins' commands have in common: an address, and an end that is no failure.
enum StandinAddress {
  static func check(_ text: String) throws {
    guard ListenAddress(text: text) != nil else {
      throw ValidationError("--listen is no address: \(text); write host:port")
    }
  }

  static func read(_ text: String) throws -> ListenAddress {
    guard let address = ListenAddress(text: text) else {
      throw Failure(.usage, "--listen is no address: \(text)", hint: "write host:port")
    }
    return address
  }

  /// Serves until it is told to stop.
  static func serve(
    _ address: ListenAddress, port: Int, _ console: Console,
    _ run: @escaping @Sendable () async throws -> Void
  ) async throws -> ExitStatus {
    console.talk(line: "zonerelay: the stand-in listens on \(address.host):\(port)")
    console.answer(line: "ready")
    let group = ServiceGroup(
      services: [Served(serve: run)], cancellationSignals: [.sigterm, .sigint],
      logger: Logger(label: "zonerelay.standin") { _ in SwiftLogNoOpLogHandler() })
    do {
      try await group.run()
    } catch is CancellationError {
      // Told to stop: that is how it ends.
    }
    return .done
  }

  private struct Served: Service {
    var serve: @Sendable () async throws -> Void
    func run() async throws { try await serve() }
  }
}
