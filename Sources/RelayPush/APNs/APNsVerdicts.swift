import Foundation
import RelayCore

/// The meaning of APNs' answers. The relay retries a push after an answer that is not listed here,
/// and counts the answer.
package enum APNsVerdicts {
  /// - Parameter reason: the body's `reason`; nil if it had none.
  package static func treatment(status: Int, reason: String?) -> Treatment {
    switch (status, reason) {
    case (200, _): .delivered
    case (400, "BadDeviceToken"): .stranger
    case (400, "DeviceTokenNotForTopic"): .gone
    case (400, "IdleTimeout"): .reconnect
    case (400, let reason?): badRequests.contains(reason) ? .rejected : .unknown
    case (403, "ExpiredProviderToken"): .renew
    // APNs accepts only the first key of a connection. We use one key, so this connection is
    // faulty: replace it.
    case (403, "UnrelatedKeyIdInToken"): .reconnect
    case (403, _): .route
    case (404, "BadPath"), (405, "MethodNotAllowed"): .rejected
    case (410, _): .gone
    case (413, _): .tooLarge
    case (429, "TooManyProviderTokenUpdates"): .keep
    case (429, _): .device
    case (500, "InternalServerError"), (503, "ServiceUnavailable"): .attempt
    case (503, "Shutdown"): .reconnect
    default: .unknown
    }
  }

  private static let badRequests: Set<String> = [
    "BadCollapseId", "BadExpirationDate", "BadMessageId", "BadPriority", "BadTopic",
    "DuplicateHeaders", "InvalidPushType", "MissingDeviceToken", "MissingTopic", "PayloadEmpty",
    "TopicDisallowed",
  ]

  /// The verdict for an answer of Apple's other environment. A fault of that environment delays
  /// only the device. The fault neither stops the route nor counts as an outage of the route.
  static func elsewhere(_ verdict: Verdict) -> Verdict {
    guard case .later(let after, let blame, let reason) = verdict, blame != .recalled else {
      return verdict
    }
    return .later(after: after, .device, reason)
  }

  /// The verdict if the route's own environment does not recognise the token, and the other
  /// environment refused our credential before it looked at the token. So the token is not known to
  /// be dead.
  static func unjudged(_ home: ProviderAnswer, _ other: ProviderAnswer) -> Verdict {
    let reason = "\(home.word); the other environment refuses our credential: \(other.word)"
    return .later(after: other.retryAfter, .device, Verdict.Reason(reason))
  }
}

extension ProviderAnswer {
  /// An answer of APNs: a body that is not JSON of Apple's form gives no reason.
  init(apns response: Response) {
    let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
    let treatment = APNsVerdicts.treatment(status: response.status, reason: body?.reason)
    self.init(response, treatment, reason: body?.reason)
    timestamp = body?.timestamp.map { Instant(milliseconds: $0) }
  }

  private struct Body: Decodable {
    var reason: String?
    var timestamp: Int64?
  }
}
