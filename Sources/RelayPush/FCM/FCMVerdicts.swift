import Foundation
import RelayCore

/// The meaning of FCM's answers. The relay retries a push after an answer that is not listed here,
/// and counts the answer.
package enum FCMVerdicts {
  /// - Parameter reason: the error's `errorCode`, or its `status` where it has none.
  package static func treatment(status: Int, reason: String?) -> Treatment {
    switch (status, reason) {
    case (200, _): .delivered
    case (400, "INVALID_ARGUMENT"), (413, _): .rejected
    // Only this message is refused: its app needs a key for APNs or Web Push in the project.
    case (401, "THIRD_PARTY_AUTH_ERROR"): .rejected
    case (401, _): .renew
    case (403, "SENDER_ID_MISMATCH"): .gone
    // The account has no right to the project.
    case (403, "PERMISSION_DENIED"): .route
    case (404, "UNREGISTERED"): .gone
    // A refusal without one of these error codes concerns this one message, not the route.
    case (403, _), (404, _): .device
    case (429, _): .pace
    case (500, "INTERNAL"), (503, "UNAVAILABLE"): .attempt
    default: .unknown
    }
  }

  /// The push was not sent because there was no access token: Google gave none, or the token's web
  /// engine is stopping, which tells nothing about the account.
  static func verdict(withoutToken failure: TransportFailure) -> Verdict {
    let isStopping = failure.code == .stopped || failure.code == .cutOff
    return .later(after: nil, isStopping ? .recalled : .route, Verdict.Reason(failure.message))
  }
}

extension ProviderAnswer {
  /// An answer of FCM: a body that is not JSON of Google's form gives no reason.
  init(fcm response: Response) {
    // An answer with status 200 contains no error, so its body is not read.
    let body =
      response.status == 200
      ? nil : try? JSONDecoder().decode(Body.self, from: Data(response.body))
    let code = body?.error.details?.compactMap(\.errorCode).first
    let reason = code ?? body?.error.status
    let treatment = FCMVerdicts.treatment(status: response.status, reason: reason)
    self.init(response, treatment, reason: reason)
  }

  private struct Body: Decodable { var error: Failure }
  private struct Failure: Decodable {
    var status: String?
    var details: [Detail]?
  }
  private struct Detail: Decodable { var errorCode: String? }
}
