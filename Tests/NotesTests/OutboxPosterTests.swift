import Foundation
import GRDB
import Synchronization
import Testing
import ZoneRelayClient

@testable import zonerelay_notes

/// Which answers let the sample's poster go on, and what it does after the others.
@Suite struct OutboxPosterTests {
  private func refusals(_ status: Int, _ body: String) -> [Int: String]? {
    OutboxPoster.refusals(RelayAnswer(status: status, body: Data(body.utf8)))
  }

  @Test func `a 202 accepts all events but the rejected ones`() {
    #expect(refusals(202, #"{"accepted":2,"duplicates":1,"rejected":[]}"#) == [:])
    let body = #"{"accepted":1,"duplicates":0,"rejected":[{"index":1,"code":"X","reason":"why"}]}"#
    #expect(refusals(202, body) == [1: "why"])
    #expect(refusals(400, body) == [1: "why"])
  }

  @Test func `without a judgement of each event the same events are sent again`() {
    #expect(OutboxPoster.refusals(nil) == nil)
    #expect(refusals(400, #"{"serverErrorCode":"BAD_REQUEST","reason":"not JSON"}"#) == nil)
    #expect(refusals(429, #"{"rejected":[]}"#) == nil)
    #expect(refusals(503, "") == nil)
    #expect(refusals(202, "") == nil)
  }

  /// The relay of this test takes at most three events a request, none that is named `big`, and
  /// rejects `bad`.
  @Test(.timeLimit(.minutes(1)))
  func `a batch that is too large is halved, and the reason of a refusal is kept`() async throws {
    let directory = try TestDirectory()
    let store = try NoteStore(directory.file("notes.sqlite"))
    let names = ["a", "b", "bad", "c", "d", "big", "e", "f", "g"]
    for name in names {
      let edit = Edit(zone: FakeServer.zone, name: name, text: "x")
      _ = try await store.save(edit, by: "_alice", on: UUID())
    }
    let accepted = Mutex<[String]>([])
    let relay = FakeServer { request in
      let events = try JSONDecoder().decode([PostedEvent].self, from: request.body ?? Data())
      let names = events.map(\.data.record.recordName)
      if names.count > 3 || names.contains("big") { return RelayAnswer(status: 413) }
      accepted.withLock { $0 += names.filter { $0 != "bad" } }
      let rejected = names.firstIndex(of: "bad").map { #"{"index":\#($0),"reason":"no"}"# } ?? ""
      return RelayAnswer(status: 202, body: Data(#"{"rejected":[\#(rejected)]}"#.utf8))
    }
    let address = RelayAddress(url: FakeServer.url, container: "c", environment: .development)
    let poster = OutboxPoster(store: store, relay: address, key: "k", transport: relay) { _ in }
    let posting = Task { try await poster.run() }
    while try await !store.waitingEvents(atMost: 1).isEmpty { await Task.yield() }
    posting.cancel()
    _ = await posting.result
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
