import JWTKit
import RelayCore
import Synchronization

/// Verifies the JWTs of one scope's users. Remembers a verified token by its digest until the token
/// expires or the keys change, so that a device that polls often costs one verification per token.
final class UserTokens: Sendable {
  /// The tolerated difference between the relay's clock and the clock of the server that signs
  /// tokens.
  static let skew = Span.seconds(60)

  private typealias Verified = (user: UserID, expires: Instant)

  /// Verified tokens, all verified by keys of one generation.
  private struct Memory {
    var generation = 0
    var tokens: [[UInt8]: Verified] = [:]
  }

  private enum Source {
    case fixed(TokenVerifier)
    case remote(RemoteKeys)
  }

  /// The most bytes of a token. A longer token is refused before it is read, because libraries
  /// compare strings of a token with Swift's `==`, which is slow for some long strings.
  static let bytesMax = 8 << 10

  private let container: String
  private let issuer: String?
  private let keys: any TokenKeys
  private let countMax: Int
  private let source: Source
  private let memory = Mutex(Memory())

  init(
    _ users: ScopeAccess.Users, container: String, keys: any TokenKeys, countMax: Int
  ) async {
    (self.container, self.keys, self.countMax) = (container, keys, countMax)
    issuer = users.issuer
    source =
      switch users.proof {
      case .sharedSecret(let secret): .fixed(await TokenVerifier(sharedSecret: secret))
      case .keySet(let set): .fixed(await TokenVerifier(set))
      case .remote(let keys): .remote(keys)
      }
  }

  func user(of token: String, at now: Instant) async throws(WireError) -> UserID {
    guard token.utf8.count <= Self.bytesMax else {
      throw Self.refusal(
        "the user token has more than \(Self.bytesMax) bytes; sign one with fewer claims")
    }
    let digest = keys.digest(Array(token.utf8))
    var (verifier, snapshot) = try await verifier()
    let generation = snapshot?.generation ?? 0
    if let known = known(digest, generation), now < known.expires + Self.skew { return known.user }
    guard let header = TokenHeader(of: token) else {
      throw Self.refusal("the user token is no JWT")
    }
    if case .unknownKey = verifier.choose(for: header), case .remote(let keys) = source,
      let old = snapshot, let fresh = await keys.newer(than: old)
    {
      (verifier, snapshot) = (fresh.verifier, fresh)
    }
    let claims = try await claims(of: token, header, verifier)
    try check(claims, at: now)
    remember(
      (UserID(claims.sub), Self.instant(claims.exp)), of: digest, snapshot?.generation ?? 0,
      at: now)
    return UserID(claims.sub)
  }

  /// - Throws: a 503 while no fetch of the keys has succeeded. A 401 would make the device sign its
  ///   user out.
  private func verifier() async throws(WireError) -> (TokenVerifier, RemoteKeys.Snapshot?) {
    switch source {
    case .fixed(let verifier): return (verifier, nil)
    case .remote(let keys):
      guard let snapshot = await keys.current() else {
        throw WireError(
          .tryAgainLater, "the keys that sign user tokens could not be fetched yet",
          retryAfterSeconds: 5)
      }
      return (snapshot.verifier, snapshot)
    }
  }

  private func claims(
    of token: String, _ header: TokenHeader, _ verifier: TokenVerifier
  ) async throws(WireError) -> UserClaims {
    switch verifier.choose(for: header) {
    case .refused(let reason): throw Self.refusal(reason)
    case .unknownKey: throw Self.refusal("the user token's kid names no key of this environment")
    case .key(let signers):
      do {
        return try await signers.verify(token, as: UserClaims.self)
      } catch {
        throw Self.refusal(
          "the user token's signature does not verify, or sub, aud or exp is missing")
      }
    }
  }

  private func check(_ claims: UserClaims, at now: Instant) throws(WireError) {
    guard now < Self.instant(claims.exp) + Self.skew else {
      throw Self.refusal("the user token has expired")
    }
    if let start = claims.nbf, now + Self.skew < Self.instant(start) {
      throw Self.refusal("the user token is not valid yet")
    }
    guard claims.aud.names.contains(where: { ByteOrdered.areSame($0, container) }) else {
      throw Self.refusal("the user token is not for container '\(container)'")
    }
    if let issuer, !ByteOrdered.areSame(claims.iss, issuer) {
      throw Self.refusal("the user token is not of this environment's issuer")
    }
    guard Name.isValid(claims.sub, bytesMax: 255) else {
      throw Self.refusal("the user token's sub is no user record name")
    }
  }

  private func known(_ digest: [UInt8], _ generation: Int) -> Verified? {
    memory.withLock { memory in
      if memory.generation < generation { memory = Memory(generation: generation) }
      return memory.generation == generation ? memory.tokens[digest] : nil
    }
  }

  private func remember(
    _ token: Verified, of digest: [UInt8], _ generation: Int, at now: Instant
  ) {
    memory.withLock { memory in
      if memory.generation < generation { memory = Memory(generation: generation) }
      // A token that older keys verified is not stored: newer keys must verify the token again.
      guard memory.generation == generation else { return }
      if memory.tokens.count >= countMax {
        memory.tokens = memory.tokens.filter { now < $0.value.expires }
        if memory.tokens.count >= countMax { memory.tokens.removeAll(keepingCapacity: true) }
      }
      memory.tokens[digest] = token
    }
  }

  private static func instant(_ seconds: Double) -> Instant {
    // A time tens of thousands of years ahead counts as never, so that no arithmetic overflows.
    guard seconds.isFinite, seconds < 1e12 else { return .never }
    return Instant(milliseconds: Int64(max(seconds, 0) * 1_000))
  }

  private static func refusal(_ reason: String) -> WireError {
    WireError(.authenticationFailed, reason)
  }
}

/// The claims that the relay reads. `Audience` replaces jwt-kit's own audience claim, which stops
/// the process if the list is empty.
private struct UserClaims: JWTPayload {
  var sub: String
  var aud: Audience
  var exp: Double
  var nbf: Double?
  var iss: String?

  /// Does nothing, because `UserTokens` checks the claims against the relay's own clock.
  func verify(using algorithm: some JWTAlgorithm) async throws {}

  struct Audience: Codable, Sendable {
    var names: [String]

    init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      // The claim is a string or a list of strings. If the claim is no string, the second attempt
      // reads a list; the error of this attempt says what is wrong.
      if let name = try? container.decode(String.self) {
        names = [name]
      } else {
        names = try container.decode([String].self)
      }
    }
  }
}
