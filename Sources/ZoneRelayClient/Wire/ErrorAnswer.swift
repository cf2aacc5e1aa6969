/// The members of every error, of a request or an item.
struct ErrorAnswer: Decodable {
  var serverErrorCode: String?
  var reason: String?
  var retryAfter: Double?

  static let tokenExpired = "CHANGE_TOKEN_EXPIRED"
  static let zoneNotFound = "ZONE_NOT_FOUND"

  /// What the code of an item's error means for the app.
  static func meaning(of code: String) -> RelayError.Code {
    ["THROTTLED", "TRY_AGAIN_LATER"].contains(code) ? .busy : .refused
  }
}

/// An answer whose members the client does not need.
struct Ignored: Decodable {}
