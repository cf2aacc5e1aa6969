import Foundation
import RelayCore

/// The meaning of FCM's answers. The relay retries a push after an answer that is not listed here,
/// and counts the answer.
package enum FCMVerdicts {
  /// What to do about an answer.
  package enum Treatment: Hashable, Sendable {
    case delivered
    /// The token is dead, or belongs to another project.
    case gone
    /// The request is wrong, by our mistake. A retry changes nothing, and the device is not at
    /// fault.
    case rejected
    /// This attempt failed.
    case attempt
    case device
    /// FCM asks us to send more slowly.
    case pace
    /// FCM refused the account or its right to the project.
    case route
    /// The access token is not accepted: send once more with a fresh one.
    case renew
    /// The answer is not on the list: the attempt failed, and the answer is counted.
    case unknown
  }

  /// - Parameter reason: the error's `errorCode`, or its `status` where it has none.
  package static func treatment(status: Int, reason: String?) -> Treatment {
    switch (status, reason) {
    case (200, _): .delivered
    case (400, "INVALID_ARGUMENT"): .rejected
    // Only this message is refused: its app needs a key for APNs or Web Push in the project.
    case (401, "THIRD_PARTY_AUTH_ERROR"): .rejected
    case (401, _): .renew
    case (403, "SENDER_ID_MISMATCH"): .gone
    // The account has no right to the project.
    case (403, "PERMISSION_DENIED"): .route
    case (404, "UNREGISTERED"): .gone
    // Without an error code the refusal concerns this one message, not the route.
    case (403, _), (404, _): .device
    case (413, _): .rejected
    case (429, _): .pace
    case (500, "INTERNAL"), (503, "UNAVAILABLE"): .attempt
    default: .unknown
    }
  }

  /// The wait after a 429 that names no time: Google asks for one minute.
  static let paceDefault = Span.minutes(1)

  /// The verdict when the sender has no further attempt to make.
  static func verdict(_ treatment: Treatment, _ answer: Answer) -> Verdict {
    let reason = Verdict.Reason(answer.reason ?? "status \(answer.status)")
    return switch treatment {
    case .delivered: .delivered
    case .gone: .gone(at: nil, reason)
    case .rejected: .rejected(reason)
    case .attempt, .unknown: .later(after: answer.retryAfter, .attempt, reason)
    case .device: .later(after: answer.retryAfter, .device, reason)
    case .pace: .later(after: answer.retryAfter ?? paceDefault, .pace, reason)
    case .route, .renew: .later(after: answer.retryAfter, .route, reason)
    }
  }

  /// The push was not sent because there was no access token: Google gave none, or the token's web
  /// engine is stopping, which tells nothing about the account.
  static func verdict(withoutToken failure: WebFailure) -> Verdict {
    let reason = Verdict.Reason(failure.message)
    return switch failure.code {
    case .stopped, .cutOff: .later(after: nil, .recalled, reason)
    case .timeout, .address, .unreachable, .lost, .takenBack, .invalid, .full:
      .later(after: nil, .route, reason)
    }
  }

  /// An answer, decoded.
  struct Answer {
    var status: Int
    var reason: String?
    var retryAfter: Span?

    init(_ response: Response) {
      status = response.status
      retryAfter = RetryAfter.span(response.header("retry-after"))
      guard status != 200, !response.body.isEmpty else { return }
      // A body that is not JSON of this form gives no reason.
      let body = try? JSONDecoder().decode(Body.self, from: Data(response.body))
      let code = body?.error.details?.compactMap(\.errorCode).first
      reason = (code ?? body?.error.status).map { String($0.prefix(Self.reasonMax)) }
    }

    private struct Body: Decodable { var error: Failure }
    private struct Failure: Decodable {
      var status: String?
      var details: [Detail]?
    }
    private struct Detail: Decodable { var errorCode: String? }

    private static let reasonMax = 64
  }
}
