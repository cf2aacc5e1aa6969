package import HTTPTypes

/// CloudKit's error code, with its HTTP status for the case that a whole request fails.
package enum ServerErrorCode: String, Hashable, Sendable, CaseIterable {
  case accessDenied = "ACCESS_DENIED"
  case authenticationFailed = "AUTHENTICATION_FAILED"
  case authenticationRequired = "AUTHENTICATION_REQUIRED"
  case badRequest = "BAD_REQUEST"
  case changeTokenExpired = "CHANGE_TOKEN_EXPIRED"
  case internalError = "INTERNAL_ERROR"
  case notFound = "NOT_FOUND"
  case quotaExceeded = "QUOTA_EXCEEDED"
  case throttled = "THROTTLED"
  case tryAgainLater = "TRY_AGAIN_LATER"
  case zoneNotFound = "ZONE_NOT_FOUND"

  package var status: HTTPResponse.Status {
    switch self {
    case .accessDenied: .forbidden
    case .authenticationFailed: .unauthorized
    case .authenticationRequired:
      HTTPResponse.Status(code: 421, reasonPhrase: "Misdirected Request")
    case .badRequest: .badRequest
    case .changeTokenExpired: .gone
    case .internalError: .internalServerError
    case .notFound, .zoneNotFound: .notFound
    case .quotaExceeded: .contentTooLarge
    case .throttled: .tooManyRequests
    case .tryAgainLater: .serviceUnavailable
    }
  }
}
