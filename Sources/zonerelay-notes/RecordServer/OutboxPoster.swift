import Foundation
import ZoneRelayClient

/// Posts the outbox to the relay, oldest first and one request at a time, so that the changes of a
/// zone keep their order. It repeats events, with the same ids, until the relay has judged them.
struct OutboxPoster: Sendable {
  let store: NoteStore, relay: RelayAddress, key: String
  var transport: any RelayTransport = URLSessionTransport()
  let say: @Sendable (String) -> Void
  /// The relay takes at most 1,000 events a request.
  private static let eventsMax = 500

  /// Runs until the task is cancelled. Ten times a second it looks for new rows.
  func run() async throws {
    var (count, backoff) = (Self.eventsMax, Backoff())
    while true {
      let events = try await store.waitingEvents(atMost: count)
      if events.isEmpty {
        try await Task.sleep(for: .milliseconds(100))
        continue
      }
      // Without an answer the relay may have accepted the events all the same: repeat them.
      let answer = try? await transport.send(request(events.map(\.json)))
      try Task.checkCancellation()
      if answer?.status == 413, events.count > 1 {
        count = events.count / 2
      } else if let refusals = Self.refusals(answer) {
        for reason in refusals.values { say("the relay refuses an event: \(reason)") }
        try await store.mark(events, refusals: refusals)
        (count, backoff) = (Self.eventsMax, Backoff())
      } else {
        say("\(events.count) events are repeated after the answer \(answer?.status ?? 0)")
        try await Task.sleep(for: backoff.failed(answer))
      }
    }
  }

  private func request(_ events: [String]) -> RelayRequest {
    let path = "events/1/\(relay.container)/\(relay.environment.rawValue)"
    return RelayRequest(
      method: "POST", url: relay.url.appendingPathComponent(path),
      headers: [
        "Authorization": "Bearer \(key)", "Content-Type": "application/cloudevents-batch+json",
      ], body: Data("[\(events.joined(separator: ","))]".utf8))
  }

  /// Why the relay will never take some events, by their places in the request; all others are
  /// accepted. nil: the relay has not judged them, so the same events must be sent again.
  static func refusals(_ answer: RelayAnswer?) -> [Int: String]? {
    struct Judgement: Decodable { var rejected: [Event] }
    struct Event: Decodable { var index: Int, reason: String }
    if answer?.status == 413 { return [0: "it is too large"] }
    // A body of another form is no judgement.
    let judgement = answer.flatMap { try? JSONDecoder().decode(Judgement.self, from: $0.body) }
    guard let judgement, [202, 400].contains(answer?.status) else { return nil }
    return judgement.rejected.reduce(into: [:]) { $0[$1.index] = $1.reason }
  }
}
