/// What becomes of one request.
enum PushAnswer: Equatable, Sendable {
  case accepted
  /// `timestamp` in milliseconds stands only beside reasons that Apple dates.
  case refused(APNsReason, timestamp: Int64?, retryAfter: Int? = nil)
  /// Accepted, answered so many milliseconds late.
  case late(Int64)
  /// Never answered.
  case silence
  /// The stream is reset; what became of the push the sender cannot know.
  case reset
  /// The connection ends by a TCP reset; what became of the push the sender cannot know.
  case hangUp

  /// What the log says: 0 where no status was sent.
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

  /// The body of the answer: Apple's JSON for a refusal, nothing otherwise.
  var body: String {
    guard case .refused(let refusal, let timestamp, _) = self else { return "" }
    let date = timestamp.map { ",\"timestamp\":\($0)" } ?? ""
    return "{\"reason\":\"\(refusal.rawValue)\"\(date)}"
  }
}
