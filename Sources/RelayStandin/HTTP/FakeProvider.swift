import Foundation

/// Judges the requests of one stand-in, one after another, on one event loop.
protocol FakeProvider: Sendable {
  /// - Parameters:
  ///   - number: counts the requests: 1 for the first since the start.
  ///   - milliseconds: the current time, since 1970.
  func answer(
    _ request: PushRequest, number: Int, under faults: Faults, at milliseconds: Int64
  ) -> FakeAnswer

  /// What the log keeps of a request besides its path and headers, as JSON members.
  func record(of request: PushRequest) -> [String: Any]

  /// The order of a log line's members; nil means the order of their names.
  var logOrder: [String]? { get }
}

/// What a stand-in does with one request.
struct FakeAnswer: Sendable {
  enum Action {
    case send
    /// The request is never answered.
    case mute
    /// The stream is reset; the sender cannot know whether the push was accepted.
    case reset
    /// The connection ends by a TCP reset; the sender cannot know whether the push was accepted.
    case hangUp
  }

  var action = Action.send
  /// The status that the sender gets and that the log shows; 0 if the request gets no answer.
  var status = 0
  var headers: [(name: String, value: String)] = []
  var body = ""
  /// The logged reason, if the protocol or the stand-in has one.
  var reason: String?
  /// The milliseconds after which the answer is sent.
  var delay: Int64 = 0

  static let silence = FakeAnswer(action: .mute, reason: "NoAnswer")

  static func json(_ status: Int, _ body: String, reason: String? = nil) -> FakeAnswer {
    FakeAnswer(
      status: status, headers: [("content-type", "application/json")], body: body, reason: reason)
  }

  /// This answer with a `retry-after` header; without a change if `seconds` is nil.
  func retry(after seconds: Int?) -> FakeAnswer {
    guard let seconds else { return self }
    var answer = self
    answer.headers.append(("retry-after", "\(seconds)"))
    return answer
  }
}

/// A provider that judges a request only if no fault refuses or drops it. Every answer is delayed
/// at least as long as the faults demand.
protocol FakeHTTPProvider: FakeProvider {
  /// The token of the device that a push is for; nil for other requests, which no fault refuses.
  func token(of request: PushRequest) -> String?

  /// The answer to a request that `fault` refuses.
  func answer(to fault: AnswerFault) -> FakeAnswer

  /// The answer to a request that no fault refuses or drops.
  func answer(_ request: PushRequest, at milliseconds: Int64) -> FakeAnswer
}

extension FakeHTTPProvider {
  var logOrder: [String]? { nil }

  func answer(
    _ request: PushRequest, number: Int, under faults: Faults, at milliseconds: Int64
  ) -> FakeAnswer {
    if let every = faults.hangUpEvery, number.isMultiple(of: every) {
      return FakeAnswer(action: .hangUp, reason: "NoAnswer")
    }
    if let every = faults.resetEvery, number.isMultiple(of: every) {
      return FakeAnswer(action: .reset, reason: "NoAnswer")
    }
    if faults.isSilent { return .silence }
    let fault = token(of: request).flatMap { faults.answer(topic: nil, token: $0) }
    var answer =
      fault.map { self.answer(to: $0).retry(after: $0.retryAfter) }
      ?? answer(request, at: milliseconds)
    answer.delay = max(answer.delay, faults.slow ?? 0)
    return answer
  }
}
