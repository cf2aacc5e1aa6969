/// The outcome of one request.
enum PushAnswer: Equatable, Sendable {
  case accepted
  /// `timestamp`, in milliseconds, is set only for reasons that Apple gives with a time.
  case refused(APNsReason, timestamp: Int64?, retryAfter: Int? = nil)
  /// The push is accepted, and answered after this many milliseconds.
  case late(Int64)
  /// The request is never answered.
  case silence
  /// The stream is reset; the sender cannot know whether the push was accepted.
  case reset
  /// The connection ends by a TCP reset; the sender cannot know whether the push was accepted.
  case hangUp

  /// The status in the log: 0 if the request gets no answer.
  var status: Int {
    switch self {
    case .accepted, .late: 200
    case .refused(let refusal, _, _): refusal.status
    case .silence, .reset, .hangUp: 0
    }
  }

  var reason: String? {
    switch self {
    case .accepted, .late: nil
    case .refused(let refusal, _, _): refusal.rawValue
    case .silence: "NoAnswer"
    case .reset: "Reset"
    case .hangUp: "HangUp"
    }
  }

  /// The body of the answer: Apple's JSON for a refusal, otherwise empty.
  var body: String {
    guard case .refused(let refusal, let timestamp, _) = self else { return "" }
    let date = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
    return "{\"reason\":\"\(refusal.rawValue)\"\(date)}"
  }
}
