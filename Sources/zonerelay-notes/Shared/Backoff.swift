import Foundation
import ZoneRelayClient

/// How long to wait after failures in a row: as long as the server asks, up to a day; if it asks
/// nothing, 1 s, doubled up to `most`. Up to a fifth is added: callers must not return together.
struct Backoff {
  var most = 300, next = 1  // in seconds

  mutating func failed(asked: Int? = nil) -> Duration {
    defer { next = min(next * 2, most) }
    let wait = asked.map { min(max($0, 1), 86_400) } ?? next
    return .seconds(Double(wait) * .random(in: 1...1.2))
  }
}

/// Repeats the work until the task is cancelled. After a failure, waits before the next try.
func persist(
  _ say: (String) -> Void, _ backoff: Backoff = Backoff(),
  _ work: (inout Backoff) async throws -> Void
) async {
  var backoff = backoff
  while !Task.isCancelled {
    do { try await work(&backoff) } catch {
      if Task.isCancelled { return }
      say("\(error)")
      let asked = (error as? ServerFailure)?.answer.headers["retry-after"].flatMap { Int($0) }
      try? await Task.sleep(for: backoff.failed(asked: asked))  // only cancellation ends it early
    }
  }
}

struct ServerFailure: Error, CustomStringConvertible {
  let answer: RelayAnswer
  var isOfSignIn = false

  var description: String {
    let text = String(decoding: answer.body.prefix(200), as: UTF8.self)
    return answer.status == 0 ? "no answer" : "answer \(answer.status) \(text)"
  }
  /// Whether the record server would refuse the request again. A proxy's error is not final.
  var isFinal: Bool {
    let body = try? JSONDecoder().decode([String: [String: String]].self, from: answer.body)
    return !isOfSignIn && [400, 403, 413].contains(answer.status)
      && body?["error"]?["message"] != nil
  }
}
