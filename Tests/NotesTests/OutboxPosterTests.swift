import Foundation
import GRDB
import Synchronization
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// After which answers the sample's poster goes on to the next events, and what the poster does
/// after any other answer.
@Suite struct OutboxPosterTests {
  private let directory: TestDirectory, store: NoteStore

  init() throws {
    directory = try TestDirectory()
    store = try NoteStore(directory.file("notes.sqlite"))
  }

  private func save(_ names: String...) async throws {
    for name in names {
      let edit = Edit(zone: FakeServer.zone, name: name, text: "x")
      _ = try await store.save(edit, by: "_alice", on: UUID())
    }
  }

  private func poster(
    _ relay: FakeServer, say: @escaping @Sendable (String) -> Void = { _ in }
  ) -> OutboxPoster {
    let address = RelayAddress(url: FakeServer.url, container: "c", environment: .development)
    return OutboxPoster(store: store, relay: address, key: "k", transport: relay, say: say)
  }

  /// Posts until nothing waits.
  private func post(to relay: FakeServer) async throws {
    let poster = poster(relay)
    let posting = Task { await poster.run() }
    while try await !store.waitingEvents(atMost: 1).isEmpty { await Task.yield() }
    posting.cancel()
    await posting.value
  }

  private func refusals(_ status: Int, _ body: String) -> [String: Int]? {
    Refusal.all(in: RelayAnswer(status: status, body: Data(body.utf8))).map { refusals in
      refusals.reduce(into: [:]) { $0[$1.value.reason] = $1.key }
    }
  }

  @Test func `a 202 accepts all events but the rejected ones`() {
    #expect(refusals(202, #"{"accepted":2,"duplicates":1,"rejected":[]}"#) == [:])
    let body = #"{"accepted":1,"duplicates":0,"rejected":[{"index":1,"code":"X","reason":"why"}]}"#
    #expect(refusals(202, body) == ["why": 1])
    #expect(refusals(400, body) == ["why": 1])
  }

  @Test func `without a judgement of each event the same events are sent again`() {
    #expect(refusals(0, "") == nil)
    #expect(refusals(400, #"{"serverErrorCode":"BAD_REQUEST","reason":"not JSON"}"#) == nil)
    #expect(refusals(429, #"{"rejected":[]}"#) == nil)
    #expect(refusals(503, "") == nil)
    #expect(refusals(202, "") == nil)
  }

  /// A zone or a user may have room later.
  @Test func `an event for which there is no room is posted again, and after 5 min`() {
    let now = Date().timeIntervalSince1970
    for code in ["BAD_REQUEST", "QUOTA_EXCEEDED", "ZONE_NOT_FOUND", ""] {
      #expect(Refusal(index: 0, code: code, reason: "why").notBefore == nil)
    }
    let later = Refusal(index: 0, code: "THROTTLED", reason: "full").notBefore
    #expect((299...360).contains((later ?? 0) - now))
  }

  /// At first the poster cannot read the outbox, because the table is missing; then the table is
  /// back.
  @Test(.timeLimit(.minutes(1)))
  func `the poster outlasts an error of the database`() async throws {
    try await save("a")
    let other = try DatabaseQueue(path: directory.file("notes.sqlite").path)
    let (errors, failed) = AsyncStream<String>.makeStream()
    let relay = FakeServer { _ in
      RelayAnswer(status: 202, body: Data(#"{"rejected":[]}"#.utf8))
    }
    let poster = poster(relay) { failed.yield($0) }
    try await other.write { try $0.execute(sql: "ALTER TABLE outbox RENAME TO lost") }
    let posting = Task { await poster.run() }
    let error = await errors.first { _ in true }
    #expect(error?.contains("SQLite error") == true)
    try await other.write { try $0.execute(sql: "ALTER TABLE lost RENAME TO outbox") }
    while try await !store.waitingEvents(atMost: 1).isEmpty { await Task.yield() }
    posting.cancel()
    await posting.value
  }

  /// The relay of this test refuses a request with more than three events or with the event `big`,
  /// and rejects the event `bad`.
  @Test(.timeLimit(.minutes(1)))
  func `a batch that is too large is halved, and the reason of a refusal is kept`() async throws {
    let names = ["a", "b", "bad", "c", "d", "big", "e", "f", "g"]
    for name in names { try await save(name) }
    let accepted = Mutex<[String]>([])
    let relay = FakeServer { request in
      let events = try JSONDecoder().decode([PostedEvent].self, from: request.body ?? Data())
      let names = events.map(\.data.record.recordName)
      if names.count > 3 || names.contains("big") { return RelayAnswer(status: 413) }
      accepted.withLock { $0 += names.filter { $0 != "bad" } }
      let rejected =
        names.firstIndex(of: "bad").map { #"{"index":\#($0),"code":"X","reason":"no"}"# } ?? ""
      return RelayAnswer(status: 202, body: Data(#"{"rejected":[\#(rejected)]}"#.utf8))
    }
    try await post(to: relay)
    #expect(accepted.withLock { $0 } == names.filter { $0 != "bad" && $0 != "big" })
    let refused = try await DatabaseQueue(path: directory.file("notes.sqlite").path).read {
      try Row.fetchAll($0, sql: "SELECT number, refusal FROM outbox WHERE refusal IS NOT NULL")
        .map { "\($0["number"] as Int): \($0["refusal"] as String)" }
    }
    #expect(refused == ["3: no", "6: it is too large"])
  }
}

private struct PostedEvent: Decodable {
  struct Content: Decodable { var record: Record }
  struct Record: Decodable { var recordName: String }
  var data: Content
}
