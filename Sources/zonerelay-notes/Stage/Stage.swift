import Foundation
import Hummingbird
import JWTKit
import Logging
import UnixSignals
import ZoneRelayClient

/// A relay, a record server and three phones, on loopback and in a temporary folder.
@main struct Stage: Sendable {
  static let zone = ZoneID(name: "Notes", owner: "_alice")
  let relay: RelayProcess, store: NoteStore, phones: [Phone]

  static func main() async {
    signal(SIGPIPE, SIG_IGN)  // a closed pipe (`| head`) must not end the stage before its cleanup
    let named = ProcessInfo.processInfo.environment["NOTES_RELAY"].map(URL.init(fileURLWithPath:))
    let beside = Bundle.main.bundleURL.appendingPathComponent("zonerelay")
    do {
      try await play(relay: named ?? beside, isTerminal: isatty(0) == 1 && isatty(1) == 1)
    } catch {
      write("zonerelay-notes: error: \(error)\n", to: .standardError)
      exit(1)
    }
  }

  static func play(relay binary: URL, isTerminal: Bool) async throws {
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigquit)
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-notes-\(UUID().uuidString.prefix(8))")
    guard mkdir(folder.path, 0o700) == 0 else {
      let why = "cannot make \(folder.path): \(String(cString: strerror(errno)))"
      throw StageError(description: "\(why); set TMPDIR to a folder that you may write")
    }
    let old = "\(folder.path).old"  // no client can save there; the system removes what is left
    defer { if rename(folder.path, old) == 0 { try? FileManager.default.removeItem(atPath: old) } }
    let port = 10_000 + Int(getpid()) % 10_000 * 2
    let relay = try RelayProcess(binary, in: folder, port: port)
    defer { relay.kill() }
    let store = try NoteStore(folder.appendingPathComponent("notes.sqlite"))
    let poster = OutboxPoster(store: store, relay: relay.address, key: relay.producerKey) {
      write("    (outbox: \($0))\n")
    }
    let secret = HMACKey(from: Array(relay.userSecret.utf8))
    let keys = await JWTKeyCollection().add(hmac: secret, digestAlgorithm: .sha256)
    let api = RecordServer(store: store, keys: keys, container: relay.address.container)
    let server = Application(
      responder: api.responder(),
      configuration: .init(address: .hostname("127.0.0.1", port: port + 1)),
      logger: Logger(label: "notes") { _ in SwiftLogNoOpLogHandler() })
    let url = URL(string: "http://127.0.0.1:\(port + 1)")!
    let phones = try ["_alice", "_alice", "_bob"].enumerated().map { number, user in
      let (name, server) = ("phone \(number + 1)", RecordServerClient(url, user: user))
      return try Phone(folder.appendingPathComponent(name), relay: relay.address, server: server) {
        write("    (\(name): \($0))\n")
      }
    }
    let stage = Stage(relay: relay, store: store, phones: phones)
    try await sideBySide(
      {
        do { try await server.run() } catch {
          throw StageError(description: "record server: \(error); \(relay.remedy)")
        }
      },
      {  // Nested so that the server ends last: it fails if it is cancelled while a phone connects.
        try await sideBySide(
          {
            defer { relay.kill() }  // before other parts stop, so no request waits for the relay
            guard await signals.first(where: { _ in true }) != nil, !isTerminal else { return }
            throw StageError(description: "interrupted")
          },
          {
            try await relay.start()
            write(help)
            try await sideBySide(
              { await poster.run() }, { try await stage.showPhones() }, { await phones[0].run() },
              { await phones[1].run() }, { await phones[2].run() },
              { try await isTerminal ? stage.readTerminal() : stage.playScript() })
          })
      })
    guard !isTerminal else { return }
    let texts = await phones[0].book.texts(in: zone).values.sorted()
    write("All phones equal the record server, also after expired tokens: \(texts)\n")
  }

  static func write(_ text: String, to output: FileHandle = .standardOutput) {
    try? output.write(contentsOf: Data(text.utf8))  // without a reader, the program goes on
  }
}

struct StageError: Error, CustomStringConvertible { let description: String }
