import Foundation
import JWTKit

/// A user's token, as the app's own server would sign it with the shared secret (HS256).
enum SignedUserToken {
  static func sign(
    user: String, container: String, issuer: String? = nil, secret: [UInt8]
  ) async throws -> String {
    let keys = await JWTKeyCollection().add(
      hmac: HMACKey(from: secret), digestAlgorithm: .sha256)
    return try await keys.sign(
      Claims(
        sub: SubjectClaim(value: user), aud: AudienceClaim(value: container),
        exp: ExpirationClaim(value: Date().addingTimeInterval(lifetime)), iss: issuer))
  }

  /// The seconds for which a token is valid.
  private static let lifetime: TimeInterval = 3_600

  private struct Claims: JWTPayload {
    var sub: SubjectClaim
    var aud: AudienceClaim
    var exp: ExpirationClaim
    var iss: String?

    func verify(using algorithm: some JWTAlgorithm) async throws {}
  }
}
