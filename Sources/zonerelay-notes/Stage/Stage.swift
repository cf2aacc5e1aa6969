import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import UnixSignals
import ZoneRelayClient

/// A relay, a record server and three phones, on loopback and in a temporary folder.
@main struct Stage: Sendable {
  static let zone = ZoneID(name: "Notes", owner: "_alice")
  static let sharing = Question.Share(zone: zone, user: "_bob")
  let relay: RelayProcess, store: NoteStore, phones: [Phone]

  static func main() async {
    let named = ProcessInfo.processInfo.environment["NOTES_RELAY"].map(URL.init(fileURLWithPath:))
    let own = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    let beside = own.deletingLastPathComponent().appendingPathComponent("zonerelay")
    let isTerminal = isatty(0) == 1 && isatty(1) == 1
    do {
      try await play(relay: named ?? beside, isTerminal: isTerminal)
    } catch {
      if error is CancellationError, isTerminal { return write("\n") }
      let why = error is CancellationError ? "interrupted" : "\(error)"
      FileHandle.standardError.write(Data("zonerelay-notes: error: \(why)\n".utf8))
      exit(1)
    }
  }

  /// Builds everything, plays, and removes everything, however it ends.
  static func play(relay binary: URL, isTerminal: Bool) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-notes-\(UUID().uuidString.prefix(8))")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    // What cannot be removed is left to the system, which cleans the temporary directory.
    defer { try? FileManager.default.removeItem(at: folder) }
    let relay = try await RelayProcess(binary, in: folder)
    defer { relay.end(SIGTERM) }
    let store = try NoteStore(folder.appendingPathComponent("notes.sqlite"))
    let say: @Sendable (String) -> Void = { write("    (\($0))\n") }
    let poster = OutboxPoster(store: store, relay: relay.address, key: relay.producerKey, say: say)
    let tokens = await UserTokens(secret: relay.userSecret, container: relay.address.container)
    let (ports, serving) = AsyncStream<Int>.makeStream()
    let logger = Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() }
    let server = Application(
      router: RecordServer(store: store, tokens: tokens).router(),
      configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { serving.yield($0.localAddress?.port ?? 0) }, logger: logger)
    let part = Part {
      try await relay.start()
      guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
      let url = URL(string: "http://127.0.0.1:\(port)")!
      let phones = try ["Alice's phone", "Alice's tablet", "Bob's phone"].map { name in
        let user = "_" + name.prefix { $0 != "'" }.lowercased()
        return try Phone(
          name, folder: folder.appendingPathComponent(name), relay: relay.address,
          server: RecordServerClient(url, user: user), say: say)
      }
      let stage = Stage(relay: relay, store: store, phones: phones)
      try await first(
        { await phones[0].run() }, { await phones[1].run() }, { await phones[2].run() },
        { try await poster.run() },
        { try await isTerminal ? Terminal(stage: stage).run() : Script(stage: stage).run() })
    }
    let ends = ServiceGroupConfiguration.ServiceConfiguration(
      service: part, successTerminationBehavior: .gracefullyShutdownGroup,
      failureTerminationBehavior: .gracefullyShutdownGroup)
    let configuration = ServiceGroupConfiguration(
      services: [.init(service: server), ends],
      gracefulShutdownSignals: [.sigint, .sigterm, .sighup], logger: logger)
    try await ServiceGroup(configuration: configuration).run()
  }

  /// Runs all side by side; the first that ends, ends all.
  static func first(_ parts: (@Sendable () async throws -> Void)...) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in parts { group.addTask { try await part() } }
      defer { group.cancelAll() }
      try await group.next()
      try Task.checkCancellation()
    }
  }

  static func write(_ text: String) { FileHandle.standardOutput.write(Data(text.utf8)) }
}

struct StageError: Error, CustomStringConvertible { let description: String }

/// Runs until a signal comes: then it is cancelled, and the server stops after it.
struct Part: Service {
  let work: @Sendable () async throws -> Void
  func run() async throws { try await cancelWhenGracefulShutdown(work) }
}
