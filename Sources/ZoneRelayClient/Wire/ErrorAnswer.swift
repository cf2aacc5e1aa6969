/// The members of every error, be it of the whole request or of one item of an answer.
struct ErrorAnswer: Decodable {
  var serverErrorCode: String?
  var reason: String?
  var retryAfter: Double?

  static let tokenExpired = "CHANGE_TOKEN_EXPIRED"
  static let zoneNotFound = "ZONE_NOT_FOUND"

  /// The error of one item of an answer; nil if the item has no error.
  ///
  /// - Parameter subject: names the item.
  func error(of subject: String) -> RelayError? {
    guard let serverErrorCode else { return nil }
    let isPassing = ["THROTTLED", "TRY_AGAIN_LATER"].contains(serverErrorCode)
    return RelayError(
      isPassing ? .busy : .refused, "\(subject): \(serverErrorCode): \(reason ?? "")",
      retryAfter: isPassing ? Self.wait(retryAfter) : nil)
  }

  /// How long the relay asks to wait: at most a day; nil if the number is missing or negative.
  static func wait(_ seconds: Double?) -> Duration? {
    guard let seconds, seconds >= 0 else { return nil }
    return .seconds(min(seconds, 86_400))
  }
}

/// An answer whose members the client does not need.
struct Ignored: Decodable {}
