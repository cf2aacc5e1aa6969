import Foundation
import JWTKit

/// Signs and verifies users' tokens. The relay has the same secret: one token opens both servers.
struct UserTokens: Sendable {
  private let container: String, keys = JWTKeyCollection()

  init(secret: String, container: String) async {
    self.container = container
    await keys.add(hmac: HMACKey(from: Array(secret.utf8)), digestAlgorithm: .sha256)
  }

  func sign(_ user: String) async throws -> String {
    let (user, audience) = (SubjectClaim(value: user), AudienceClaim(value: container))
    return try await keys.sign(Claims(sub: user, aud: audience, exp: .init(value: .now + 3_600)))
  }

  func user(of token: String) async throws -> String {
    let claims = try await keys.verify(token, as: Claims.self)
    try claims.aud.verifyIntendedAudience(includes: container)
    return claims.sub.value
  }

  private struct Claims: JWTPayload {
    var sub: SubjectClaim, aud: AudienceClaim, exp: ExpirationClaim
    func verify(using algorithm: some JWTAlgorithm) throws { try exp.verifyNotExpired() }
  }
}
