import Foundation
import RelayCore

/// The meaning of APNs' answers. The relay retries a push after an answer that is not listed here,
/// and counts the answer.
package enum APNsVerdicts {
  /// What to do about an answer.
  package enum Treatment: Hashable, Sendable {
    case delivered
    /// The token is dead, or belongs to another app.
    case gone
    /// This environment does not recognise the token: the token is dead, or belongs to the other
    /// environment.
    case stranger
    /// The request is wrong, by our mistake or our configuration. A retry changes nothing, and the
    /// device is not at fault.
    case rejected
    /// APNs says that our payload is too large, even if it is below our limit.
    case tooLarge
    /// This attempt failed.
    case attempt
    /// This attempt failed, and the connection must be replaced.
    case reconnect
    case device
    /// APNs refused the credential or our right to the topic.
    case route
    /// The provider token is too old: send once more with a fresh one.
    case renew
    /// The provider token came too soon after another: use the old one again.
    case keep
    /// `treatment` does not list the answer: the attempt failed, and the answer is counted.
    case unknown

    /// True if APNs refused the credential, so that the answer tells nothing about the device
    /// token.
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

  /// The verdict when the sender has no further attempt to make.
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
  static func unjudged(_ home: Answer, _ other: Answer) -> Verdict {
    let reason = "\(home.word); the other environment refuses our credential: \(other.word)"
    return .later(after: other.retryAfter, .device, Verdict.Reason(reason))
  }

  /// An answer, decoded.
  struct Answer: Sendable {
    var status: Int
    var reason: String?
    /// The time since which the token is dead.
    var timestamp: Instant?
    var retryAfter: Span?

    /// Apple's reason, or the status if there is none.
    var word: String { reason ?? "status \(status)" }

    init(_ response: Response) {
      status = response.status
      retryAfter = RetryAfter.span(response.header("retry-after"))
      guard !response.body.isEmpty else { return }
      // A body that is not JSON of this form gives no reason.
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
