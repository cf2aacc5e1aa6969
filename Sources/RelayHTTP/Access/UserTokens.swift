import JWTKit
import RelayCore
import RelayWire
import Synchronization

/// Verifies the JWTs of one scope's users. What verified once is remembered, by its digest and
/// until it expires, so that a polling device costs one signature per token and not one per poll.
final class UserTokens: Sendable {
  /// Clocks of devices and account servers may be off by this much.
  static let skew = Span.seconds(60)

  private struct Verified {
    var user: UserID
    var expires: Instant
  }

  private let container: String
  private let issuer: String?
  private let keys: any TokenKeys
  private let countMax: Int
  private let signers = JWTKeyCollection()
  private let verified = Mutex<[[UInt8]: Verified]>([:])

  init(
    _ users: ScopeAccess.Users, container: String, keys: any TokenKeys, countMax: Int
  ) async {
    self.container = container
    self.keys = keys
    self.countMax = countMax
    issuer = users.issuer
    await signers.add(hmac: HMACKey(from: users.sharedSecret), digestAlgorithm: .sha256)
  }

  func user(of token: String, at now: Instant) async throws(WireError) -> UserID {
    let digest = keys.digest(Array(token.utf8))
    if let known = verified.withLock({ $0[digest] }), now < known.expires + Self.skew {
      return known.user
    }
    let claims = try await claims(of: token)
    try check(claims, at: now)
    remember(
      Verified(user: UserID(claims.sub), expires: Self.instant(claims.exp)), of: digest, at: now)
    return UserID(claims.sub)
  }

  private func claims(of token: String) async throws(WireError) -> UserClaims {
    // jwt-kit verifies with the key it has whatever `alg` says; we accept what we document.
    guard Self.algorithm(of: token) == "HS256" else {
      throw Self.refusal("the user token must be a JWT signed with HS256")
    }
    do {
      return try await signers.verify(token, as: UserClaims.self)
    } catch {
      throw Self.refusal(
        "the user token's signature does not verify, or sub, aud or exp is missing")
    }
  }

  private func check(_ claims: UserClaims, at now: Instant) throws(WireError) {
    guard now < Self.instant(claims.exp) + Self.skew else {
      throw Self.refusal("the user token has expired")
    }
    if let start = claims.nbf, now + Self.skew < Self.instant(start) {
      throw Self.refusal("the user token is not valid yet")
    }
    guard claims.aud.names.contains(container) else {
      throw Self.refusal("the user token is not for container '\(container)'")
    }
    if let issuer, claims.iss != issuer {
      throw Self.refusal("the user token is not of this environment's issuer")
    }
    guard Name.isValid(claims.sub, bytesMax: 255) else {
      throw Self.refusal("the user token's sub is no user record name")
    }
  }

  private func remember(_ token: Verified, of digest: [UInt8], at now: Instant) {
    verified.withLock { tokens in
      if tokens.count >= countMax {
        tokens = tokens.filter { now < $0.value.expires }
        if tokens.count >= countMax { tokens.removeAll(keepingCapacity: true) }
      }
      tokens[digest] = token
    }
  }

  private static func algorithm(of token: String) -> String? {
    guard let header = token.split(separator: ".", omittingEmptySubsequences: false).first,
      let bytes = Base64.bytes(header)
    else { return nil }
    // A header that is no JSON has no algorithm: the caller refuses it either way.
    let tree = try? JSONTree(bytes)
    return try? tree?.root.optional("alg")?.string()
  }

  private static func instant(_ seconds: Double) -> Instant {
    // Far beyond any calendar counts as never, so that no arithmetic overflows.
    guard seconds.isFinite, seconds < 1e12 else { return .never }
    return Instant(milliseconds: Int64(max(seconds, 0) * 1_000))
  }

  private static func refusal(_ reason: String) -> WireError {
    WireError(.authenticationFailed, reason)
  }
}

/// The claims we read. jwt-kit's own audience claim stops the process on an empty list.
private struct UserClaims: JWTPayload {
  var sub: String
  var aud: Audience
  var exp: Double
  var nbf: Double?
  var iss: String?

  /// Checked by `UserTokens`, against the relay's own clock.
  func verify(using algorithm: some JWTAlgorithm) async throws {}

  struct Audience: Codable, Sendable {
    var names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // A string or a list of them; the second attempt reports what is wrong.
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(names)
    }
  }
}
