import Foundation
import ZoneRelayClient

/// The app on one device. While it is online it does two things side by side: it sends the user's
/// edits to the record server, and it fetches what the relay says has changed.
actor Phone {
  nonisolated let name: String, book: NoteBook, server: RecordServerClient
  private(set) var isOnline = true
  private let client: ZoneRelayClient
  private let say: @Sendable (String) -> Void
  private var switching: AsyncStream<Void>.Continuation?

  init(
    _ name: String, folder: URL, relay: RelayAddress, server: RecordServerClient,
    say: @escaping @Sendable (String) -> Void
  ) throws {
    (self.name, self.server, self.say) = (name, server, say)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    book = try NoteBook(folder.appendingPathComponent("notes.json"), server: server)
    client = try ZoneRelayClient(
      relay, state: .file(folder.appendingPathComponent("sync.state")), sink: book,
      credentials: { try await server.token($0) })
  }

  /// Plays flight mode. The book keeps the user's edits meanwhile.
  func switchOnline() {
    isOnline.toggle()
    switching?.finish()
  }

  func run() async {
    while !Task.isCancelled {
      let (untilSwitched, switching) = AsyncStream<Void>.makeStream()
      self.switching = switching
      await withTaskGroup(of: Void.self) { group in
        if isOnline {
          group.addTask { await self.persist { try await self.sendEdits() } }
          group.addTask { await self.persist { try await self.receiveChanges() } }
        }
        for await _ in untilSwitched {}
        group.cancelAll()
      }
    }
  }

  private func receiveChanges() async throws {
    let wanted: [Subscription] = [.database("own", .private), .database("shared", .shared)]
    for case let error? in try await client.prepare(wanted).map(\.error) { throw error }
    try await client.register(.courier)
    try await client.fetchAllChanges()
    for try await wake in client.wakes() { try await client.handle(wake) }
  }

  private func sendEdits() async throws {
    while true {
      guard isOnline, let edit = await book.pendingEdits.first else {
        try await Task.sleep(for: .milliseconds(50))
        continue
      }
      do {
        let question = Question.Save(edit: edit, installation: client.installation)
        try await book.saved(edit, as: try await server.ask("save", question).first)
      } catch RecordServerClient.Failure.answered(status: 403) {
        say("\(name): the user may not edit zone \(edit.zone.name) any more")
        try await book.saved(edit, as: nil)
      }
    }
  }

  /// Repeats the work after each failure, until the task is cancelled.
  private func persist(_ work: () async throws -> Void) async {
    while !Task.isCancelled {
      do { try await work() } catch {
        if Task.isCancelled { return }
        say("\(name): \(error)")
        // After a passing error the client itself waits. Only cancellation ends this sleep early.
        if (error as? RelayError)?.isPassing != true { try? await Task.sleep(for: .seconds(1)) }
      }
    }
  }
}
