import RelayCore

/// The meaning of push services' answers. A user's device gave the endpoint's URL, so an answer
/// concerns that one device only and never stops the route.
package enum WebPushVerdicts {
  /// What to do about an answer.
  package enum Treatment: Hashable, Sendable {
    case delivered
    /// The subscription is gone.
    case gone
    /// A retry changes nothing, and the device is not known to be dead.
    case rejected
    /// A smaller message may be accepted.
    case tooLarge
    /// The relay tries this push again later.
    case device
    /// The answer is not on the list: the relay tries the push again later and counts the answer.
    case unknown
  }

  package static func treatment(status: Int) -> Treatment {
    switch status {
    case 200...202, 204: .delivered
    case 404, 410: .gone
    case 400, 401, 403, 405, 406, 411, 415: .rejected
    case 413: .tooLarge
    case 408, 425, 429, 500...599: .device
    default: .unknown
    }
  }

  static func verdict(_ answer: WebAnswer) -> Verdict {
    let reason = Verdict.Reason(words[answer.status] ?? "status \(answer.status)")
    return switch treatment(status: answer.status) {
    case .delivered: .delivered
    case .gone: .gone(at: nil, reason)
    case .rejected: .rejected(reason)
    case .tooLarge: .tooLarge(reason)
    case .device, .unknown: .later(after: answer.retryAfter, .device, reason)
    }
  }

  static func verdict(_ failure: WebFailure) -> Verdict {
    let reason = Verdict.Reason(failure.message)
    return switch failure.code {
    case .address, .invalid: .rejected(reason)
    case .timeout, .lost: .later(after: nil, .device, reason)
    case .unreachable, .full: .later(after: nil, .unsent, reason)
    case .takenBack, .stopped: .later(after: nil, .recalled, reason)
    case .cutOff: .later(after: nil, .attempt, reason)
    }
  }

  /// The relay's reasons by status: Web Push defines no error codes.
  private static let words = [
    401: "VapidRefused", 403: "VapidRefused", 404: "SubscriptionGone", 410: "SubscriptionGone",
    413: "PayloadTooLarge", 429: "TooManyRequests",
  ]
}
