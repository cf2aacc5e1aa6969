import Foundation
import ZoneRelayClient

/// Posts the outbox to the relay, oldest first and one request at a time, so that the changes of a
/// zone keep their order. It repeats events, with the same ids, until the relay has judged them.
struct OutboxPoster: Sendable {
  let store: NoteStore, relay: RelayAddress, key: String
  var transport: any RelayTransport = URLSessionTransport()
  var backoff = Backoff(most: 10)  // at most 10 s: all phones wait for this one poster
  let say: @Sendable (String) -> Void
  private static let eventsMax = 500  // the relay takes up to 1,000 a request

  func run() async {
    let path = "events/1/\(relay.container)/\(relay.environment.rawValue)"
    let type = "application/cloudevents-batch+json"
    let headers = ["Authorization": "Bearer \(key)", "Content-Type": type]
    var count = Self.eventsMax
    await persist(say, backoff) { backoff in
      let events = try await store.waitingEvents(atMost: count)
      if events.isEmpty { return try await Task.sleep(for: .milliseconds(100)) }
      let request = RelayRequest(
        method: "POST", url: relay.url.appendingPathComponent(path), headers: headers,
        body: Data("[\(events.map(\.json).joined(separator: ","))]".utf8))
      // Without an answer it is unknown if the relay accepted the events, so they are sent again.
      let answer = (try? await transport.send(request)) ?? RelayAnswer(status: 0)
      if answer.status == 413, events.count > 1 { return count = events.count / 2 }
      guard let refusals = Refusal.all(in: answer) else { throw ServerFailure(answer: answer) }
      for refusal in refusals.values { say("the relay refuses an event: \(refusal.reason)") }
      try await store.mark(events, refusals)
      (count, backoff) = (Self.eventsMax, self.backoff)
    }
  }
}

/// Tells the relay of a change, without the note's text. The relay ignores a repeated `id`.
struct RelayEvent: Encodable {
  struct Record: Encodable { var recordName: String, recordType = "Note", recordChangeTag: String }
  struct Author: Encodable { var userRecordName: String, clientId: UUID? = nil }
  /// `database` is as the zone's owner sees it. `participant` may see the zone from now on.
  struct Content: Encodable {
    var zoneID: ZoneID, database = "private", record: Record? = nil, participant: String? = nil
    var changedBy: Author
    var subject: [String?] { [zoneID.owner, zoneID.name, record?.recordName, participant] }
  }
  var id: UUID, type: String, data: Content, specversion = "1.0", source = "/notes"
}

struct Refusal: Decodable, Hashable {
  var index: Int, code: String, reason: String
  /// When the event is posted again, because the zone or user has reached a limit; nil: never.
  var notBefore: Double? { code == "THROTTLED" ? Date().timeIntervalSince1970 + 300 : nil }

  /// The refusals, by their events' places in the request; the relay has accepted all other events.
  /// nil: the relay has not judged the events, so the same events must be sent again.
  static func all(in answer: RelayAnswer) -> [Int: Refusal]? {
    struct Judgement: Decodable { var rejected: [Refusal] }
    if answer.status == 413 { return [0: Refusal(index: 0, code: "", reason: "it is too large")] }
    let judgement = try? JSONDecoder().decode(Judgement.self, from: answer.body)  // nil: a proxy's
    guard let judgement, [202, 400].contains(answer.status) else { return nil }
    return judgement.rejected.reduce(into: [:]) { $0[$1.index] = $1 }
  }
}
