import Foundation
import ZoneRelayClient

/// The app on one device. While it is online it does two things side by side: it sends the user's
/// edits to the record server, and it fetches what the relay says has changed.
actor Phone {
  nonisolated let book: NoteBook
  private(set) var isOnline = true
  private let client: ZoneRelayClient, server: RecordServerClient, say: @Sendable (String) -> Void
  private var switching: AsyncStream<Void>.Continuation?

  init(
    _ folder: URL, relay: RelayAddress, server: RecordServerClient,
    say: @escaping @Sendable (String) -> Void
  ) throws {
    (self.server, self.say) = (server, say)
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
      let isOnline = isOnline
      async let _ = isOnline ? persist { try await self.sendEdits(&$0) } : ()
      async let _ = isOnline ? persist { try await self.receiveChanges(&$0) } : ()
      for await _ in untilSwitched {}  // then both are cancelled
    }
  }

  func sendEdits(_ backoff: inout Backoff) async throws {
    for await _ in await book.edits() {
      while let edit = await book.content.pending.first {
        try Task.checkCancellation()
        do {
          let question = Question.Save(edit: edit, installation: client.installation)
          try await book.answered(edit, with: try await server.ask("save", question))
        } catch let failure as RecordServerClient.Failure where failure.isFinal {
          say("the edit of \(edit.name) is set aside: \(failure)")
          try await book.answered(edit, with: [], isRefused: true)
        }
        backoff = Backoff()
      }
    }
  }

  private func receiveChanges(_ backoff: inout Backoff) async throws {
    let wanted: [Subscription] = [.database("own", .private), .database("shared", .shared)]
    for case let error? in try await client.prepare(wanted).map(\.error) { throw error }
    try await client.register(.courier)
    try await client.fetchAllChanges()
    backoff = Backoff()
    let (times, later) = AsyncStream<Date>.makeStream(bufferingPolicy: .bufferingNewest(1))
    try await sideBySide(
      { [client] in
        for try await wake in client.wakes() {
          // The relay lets phones wait with a zone that very many of them would fetch at once.
          if let time = try await client.handle(wake).deferredUntil { later.yield(time) }
        }
      },
      { [client] in
        for await time in times {
          try await Task.sleep(for: .seconds(time.timeIntervalSinceNow))
          try await client.fetchAllChanges()
        }
      })
  }

  /// Repeats the work after each failure, until the task is cancelled.
  private func persist(_ work: (inout Backoff) async throws -> Void) async {
    var backoff = Backoff()
    while !Task.isCancelled {
      do { try await work(&backoff) } catch {
        if Task.isCancelled { return }
        say("\(error)")
        // The client itself waits for so long before it asks the relay again.
        if (error as? RelayError)?.retryAfter != nil { continue }
        let wait = backoff.failed((error as? RecordServerClient.Failure)?.answer)
        try? await Task.sleep(for: wait)  // only cancellation ends it early
      }
    }
  }
}
