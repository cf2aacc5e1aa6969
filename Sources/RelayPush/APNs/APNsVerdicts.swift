import Foundation
import RelayCore

/// What APNs' answers mean. A permanent failure is a reason on this list; everything else is
/// retried and counted.
package enum APNsVerdicts {
  /// What to do about an answer.
  package enum Treatment: Hashable, Sendable {
    case delivered
    /// The token is dead, or not of this app.
    case gone
    /// This environment does not know the token: it is dead, or of the other one.
    case stranger
    /// Our mistake or our configuration: trying again changes nothing, and the device is innocent.
    case rejected
    /// Our payload, whatever we believed its limit to be.
    case tooLarge
    /// This attempt failed.
    case attempt
    /// This attempt failed, and the connection is worn out.
    case reconnect
    case device
    /// The credential or our right to the topic is refused.
    case route
    /// The provider token is too old: once more with a fresh one.
    case renew
    /// The provider token came too soon after another: back to the old one.
    case keep
    /// Nobody knows it: the attempt failed, and it is counted.
    case unknown

    /// The credential was refused, so nothing is said of the device token.
    var isOfCredential: Bool { self == .route || self == .renew || self == .keep }
  }

  /// - Parameter reason: the body's `reason`; nil if it had none.
  package static func treatment(status: Int, reason: String?) -> Treatment {
    switch (status, reason) {
    case (200, _): .delivered
    case (400, "BadDeviceToken"): .stranger
    case (400, "DeviceTokenNotForTopic"): .gone
    case (400, "IdleTimeout"): .reconnect
    case (400, let reason?): badRequests.contains(reason) ? .rejected : .unknown
    case (403, "ExpiredProviderToken"): .renew
    // A connection serves the key that came first; ours has one, so this one is odd: another.
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

  /// The verdict once nothing more can be tried inside.
  static func verdict(_ treatment: Treatment, _ answer: Answer) -> Verdict {
    let reason = Verdict.Reason(answer.word)
    return switch treatment {
    case .delivered: .delivered
    case .gone, .stranger: .gone(at: answer.timestamp, reason)
    case .rejected: .rejected(reason)
    case .tooLarge: .tooLarge(reason)
    case .attempt, .reconnect, .unknown: .later(after: answer.retryAfter, .attempt, reason)
    case .device: .later(after: answer.retryAfter, .device, reason)
    case .route, .renew, .keep: .later(after: answer.retryAfter, .route, reason)
    }
  }

  /// The same from Apple's other environment, where the route is not at home: whatever is wrong
  /// there slows the device down, and neither stops the route nor counts as an outage of it.
  static func elsewhere(_ verdict: Verdict) -> Verdict {
    guard case .later(let after, let blame, let reason) = verdict, blame != .recalled else {
      return verdict
    }
    return .later(after: after, .device, reason)
  }

  /// The route's own environment does not know the token, and the other one, which may, did not
  /// look at it: nobody has said that it is dead.
  static func unjudged(_ home: Answer, _ other: Answer) -> Verdict {
    let reason = "\(home.word); the other environment refuses our credential: \(other.word)"
    return .later(after: other.retryAfter, .device, Verdict.Reason(reason))
  }

  /// An answer, read.
  struct Answer: Sendable {
    var status: Int
    var reason: String?
    /// Since when the token is dead.
    var timestamp: Instant?
    var retryAfter: Span?

    /// Apple's word, or the status.
    var word: String { reason ?? "status \(status)" }

    init(_ response: Response) {
      status = response.status
      retryAfter = RetryAfter.span(response.header("retry-after"))
      guard !response.body.isEmpty else { return }
      // A body that is no such JSON is a status without a reason, and treated as that.
      let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
      reason = body?.reason.map { String($0.prefix(Self.reasonMax)) }
      timestamp = body?.timestamp.map { Instant(milliseconds: $0) }
    }

    private struct Body: Decodable {
      var reason: String?
      var timestamp: Int64?
    }

    private static let reasonMax = 64
  }
}
