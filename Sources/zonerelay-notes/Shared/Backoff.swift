import ZoneRelayClient

/// How long to wait after failures in a row: as long as the server asks, up to a day, otherwise
/// 1 s, doubled up to 5 min. Up to a fifth is added, so that callers do not return at once.
struct Backoff {
  private var next = 1

  mutating func failed(asked: Int? = nil) -> Duration {
    defer { next = min(next * 2, 300) }
    let wait = asked.map { min(max($0, 1), 86_400) } ?? next
    return .seconds(Double(wait) * .random(in: 1...1.2))
  }
}

/// Repeats the work, after a failure with a wait before it, until the task is cancelled.
func persist(_ say: (String) -> Void, _ work: (inout Backoff) async throws -> Void) async {
  var backoff = Backoff()
  while !Task.isCancelled {
    do { try await work(&backoff) } catch {
      if Task.isCancelled { return }
      say("\(error)")
      // The client itself waits as long as the relay asks.
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
  /// Whether the server would refuse the same question again.
  var isFinal: Bool {
    !isOfSignIn && 400...499 ~= answer.status && ![401, 408, 429].contains(answer.status)
  }
}
