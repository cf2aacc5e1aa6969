import RelayCore

/// The meaning of push services' answers. A user's device gave the endpoint's URL, so an answer
/// concerns that one device only and never stops the route.
package enum WebPushVerdicts {
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

  static func verdict(_ response: Response) -> Verdict {
    let treatment = treatment(status: response.status)
    // An unknown answer, too, concerns only the device that named the host.
    return ProviderAnswer(
      response, treatment == .unknown ? .device : treatment, reason: words[response.status]
    ).verdict
  }

  static func verdict(_ failure: TransportFailure) -> Verdict {
    let reason = Verdict.Reason(failure.message)
    return switch failure.code {
    case .address, .invalid: .rejected(reason)
    case .timeout, .lost, .reset: .later(after: nil, .device, reason)
    case .unreachable, .notTaken, .full, .takenBack, .stopped, .cutOff: failure.verdict
    }
  }

  /// The relay's reasons by status: Web Push defines no error codes.
  private static let words = [
    401: "VapidRefused", 403: "VapidRefused", 404: "SubscriptionGone", 410: "SubscriptionGone",
    413: "PayloadTooLarge", 429: "TooManyRequests",
  ]
}
