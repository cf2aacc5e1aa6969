import Foundation
import ZoneRelayClient

/// The app on one device. While online, it sends the user's edits and fetches changes in parallel.
actor Phone {
  nonisolated let book: NoteBook
  private(set) var isOnline = true
  private let client: ZoneRelayClient, server: RecordServerClient, say: @Sendable (String) -> Void
  private var restarting: AsyncStream<Void>.Continuation?

  init(
    _ folder: URL, relay: RelayAddress, server: RecordServerClient,
    transport: any RelayTransport = URLSessionTransport(),
    say: @escaping @Sendable (String) -> Void
  ) throws {
    (self.server, self.say) = (server, say)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    book = try NoteBook(folder.appendingPathComponent("notes.json"), server: server)
    client = try ZoneRelayClient(
      relay, state: .file(folder.appendingPathComponent("sync.state")), sink: book,
      transport: transport, credentials: { try await server.token($0) })
  }

  /// Ends the phone's work and begins it anew: the network is lost or back. `book` keeps the edits.
  func restart(isOnline: Bool) {
    self.isOnline = isOnline
    restarting?.finish()
  }

  func run() async {
    while !Task.isCancelled {
      let untilRestart = AsyncStream<Void> { restarting = $0 }
      let isOnline = isOnline
      async let _ = isOnline ? persist(say) { try await self.sendEdits(&$0) } : ()
      async let _ = isOnline ? persist(say) { try await self.receiveChanges(&$0) } : ()
      // Shortens the client's wait after failures. `receiveChanges` reports the same errors.
      async let _ = isOnline ? try? await client.refresh() : nil
      for await _ in untilRestart {}  // then all three calls are cancelled
    }
  }

  func sendEdits(_ backoff: inout Backoff) async throws {
    for await _ in await book.edits() {  // `isOnline` is read last, so no offline edit is sent
      while !Task.isCancelled, let edit = await book.content.pending.first, isOnline {
        do {
          let answer = try await server.ask(.save(edit, installation: client.installation))
          try await book.answered(edit, with: answer)
        } catch let failure as ServerFailure where failure.isFinal {
          say("'\((edit.text ?? edit.name).prefix(20))' is set aside: \(failure)")
          try await book.answered(edit, with: [], isRefused: true)
        }
        backoff = Backoff()
      }
    }
  }

  private func receiveChanges(_ backoff: inout Backoff) async throws {
    let wanted: [Subscription] = [.database("own", .private), .database("shared", .shared)]
    // A subscription that the relay does not take now is asked for again at the next restart.
    for case let error? in try await client.prepare(wanted).map(\.error) { say("\(error)") }
    try await client.register(.courier)
    try await client.fetchAllChanges()
    backoff = Backoff()
    try await withThrowingDiscardingTaskGroup { [client] fetches in
      for try await wake in client.wakes() {
        // The relay makes phones wait for a zone that very many of them would fetch at once.
        guard let time = try await client.handle(wake).deferredUntil else { continue }
        fetches.addTask {
          try await Task.sleep(for: .seconds(time.timeIntervalSinceNow))
          try await client.fetchAllChanges()
        }
      }
    }
  }
}
