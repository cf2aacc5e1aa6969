import Foundation
import RelayCore

/// What FCM's answers mean. A permanent failure is on this list; everything else is retried and
/// counted.
package enum FCMVerdicts {
  /// What to do about an answer.
  package enum Treatment: Hashable, Sendable {
    case delivered
    /// The token is dead, or another project's.
    case gone
    /// Our mistake: trying again changes nothing, and the device is innocent.
    case rejected
    /// This attempt failed.
    case attempt
    case device
    /// Too much came from us at once.
    case pace
    /// The account or its right to the project is refused.
    case route
    /// The access token is not good: once more with a fresh one.
    case renew
    /// Nobody knows it: the attempt failed, and it is counted.
    case unknown
  }

  /// - Parameter reason: the error's `errorCode`, or its `status` where it has none.
  package static func treatment(status: Int, reason: String?) -> Treatment {
    switch (status, reason) {
    case (200, _): .delivered
    case (400, "INVALID_ARGUMENT"): .rejected
    // Of one message, to an app that needs a key of Apple's or of Web Push in the project.
    case (401, "THIRD_PARTY_AUTH_ERROR"): .rejected
    case (401, _): .renew
    case (403, "SENDER_ID_MISMATCH"): .gone
    // The account's right to the project is what is missing.
    case (403, "PERMISSION_DENIED"): .route
    case (404, "UNREGISTERED"): .gone
    // Said of one message, without a word that would say it of all.
    case (403, _), (404, _): .device
    case (413, _): .rejected
    case (429, _): .pace
    case (500, "INTERNAL"), (503, "UNAVAILABLE"): .attempt
    default: .unknown
    }
  }

  /// Where a 429 names no time, Google asks for a minute.
  static let paceDefault = Span.minutes(1)

  /// The verdict once nothing more can be tried inside.
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

  /// There was no access token for the push, so it has not left. Google gave none, or its sender
  /// stops, which says nothing of the account.
  static func verdict(withoutToken failure: WebFailure) -> Verdict {
    let reason = Verdict.Reason(failure.message)
    return switch failure.code {
    case .stopped, .cutOff: .later(after: nil, .recalled, reason)
    case .timeout, .address, .unreachable, .lost, .takenBack, .invalid, .full:
      .later(after: nil, .route, reason)
    }
  }

  /// An answer, read.
  struct Answer {
    var status: Int
    var reason: String?
    var retryAfter: Span?

    init(_ response: Response) {
      status = response.status
      retryAfter = RetryAfter.span(response.header("retry-after"))
      guard status != 200, !response.body.isEmpty else { return }
      // A body that is no such JSON is a status without a reason, and treated as that.
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
