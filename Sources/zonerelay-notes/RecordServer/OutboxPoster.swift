import Foundation
import ZoneRelayClient

/// Posts the outbox to the relay, oldest first and one request at a time, so that the changes of a
/// zone keep their order. It repeats a request, with the same ids, until the relay has accepted it.
struct OutboxPoster: Sendable {
  let store: NoteStore, relay: RelayAddress, key: String
  let transport = URLSessionTransport()
  let say: @Sendable (String) -> Void

  /// Runs until the task is cancelled. Ten times a second it looks for new rows.
  func run() async throws {
    while true {
      // The relay takes at most 1,000 events a request.
      let events = try await store.waitingEvents(atMost: 500)
      if let last = events.last {
        try await post(events.map(\.json))
        try await store.markPosted(through: last.number)
      } else {
        try await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  private func post(_ events: [String]) async throws {
    let path = "events/1/\(relay.container)/\(relay.environment.rawValue)"
    let request = RelayRequest(
      method: "POST", url: relay.url.appendingPathComponent(path),
      headers: [
        "Authorization": "Bearer \(key)", "Content-Type": "application/cloudevents-batch+json",
      ], body: Data("[\(events.joined(separator: ","))]".utf8))
    for attempt in 0... {
      // Without an answer the relay may have accepted the events all the same: repeat them.
      let answer = try? await transport.send(request)
      try Task.checkCancellation()
      if let accepted = AcceptedEvents(answer) {
        // The relay would reject these again: they are a fault of this server.
        for event in accepted.rejected { say("The relay rejects an event: \(event.reason)") }
        return
      }
      say("The outbox repeats \(events.count) events, the relay answered \(answer?.status ?? 0)")
      let asked = answer?.headers["retry-after"].flatMap(Double.init)
      try await Task.sleep(for: .seconds(asked ?? min(30, 0.25 * pow(2, Double(attempt)))))
    }
  }
}

/// The relay's answer to a batch of events: all are durable, but those that it rejects.
struct AcceptedEvents: Decodable {
  struct Rejected: Decodable { var reason: String }
  var rejected: [Rejected]
  /// nil: the relay has not judged the events, so the same ones must be sent again.
  init?(_ answer: RelayAnswer?) {
    guard let answer, [202, 400].contains(answer.status),
      let accepted = try? JSONDecoder().decode(Self.self, from: answer.body)
    else { return nil }
    self = accepted
  }
}
