/// The members of every error, of a request or an item.
struct ErrorAnswer: Decodable {
  var serverErrorCode: String?
  var reason: String?
  var retryAfter: Double?

  static let tokenExpired = "CHANGE_TOKEN_EXPIRED"
  static let zoneNotFound = "ZONE_NOT_FOUND"
}

/// An answer whose members the client does not need.
struct Ignored: Decodable {}
