import JWTKit
import RelayCore
import RelayWire

/// Chooses the key that verifies a user token, by the token's `alg` and `kid` together. A key
/// verifies only tokens that name the key's own algorithm, so a public key can never serve as a
/// shared secret.
struct TokenVerifier: Sendable {
  enum Choice: Sendable {
    case key(JWTKeyCollection)
    /// The token names a key that is not in this set; a newer set may have it.
    case unknownKey
    case refused(String)
  }

  private typealias Key = (id: String?, algorithm: String, signers: JWTKeyCollection)

  private let keys: [Key]
  /// True if the only key is a shared secret. A shared secret has no id, so `kid` is ignored.
  private let isSecret: Bool

  init(sharedSecret: [UInt8]) async {
    let signers = JWTKeyCollection()
    await signers.add(hmac: HMACKey(from: sharedSecret), digestAlgorithm: .sha256)
    keys = [(nil, "HS256", signers)]
    isSecret = true
  }

  init(_ set: KeySet) async {
    var keys: [Key] = []
    for key in set.keys {
      // `KeySet` has tried each key, so no key fails here.
      guard let signers = try? await key.signers() else { continue }
      keys.append((key.id, key.algorithm.rawValue, signers))
    }
    self.keys = keys
    isSecret = false
  }

  func choose(for header: TokenHeader) -> Choice {
    let known = isSecret ? ["HS256"] : KeySet.Algorithm.allCases.map(\.rawValue)
    // `Ed25519` is the newer name of EdDSA with the curve Ed25519 (RFC 9864).
    let named = header.algorithm.map { Spelled($0) == "Ed25519" ? "EdDSA" : $0 } ?? ""
    let algorithm = known.first { ByteOrdered.areSame($0, named) }
    if header.isCritical { return .refused("the user token's header must not have crit") }
    guard let algorithm else {
      let names = known.joined(separator: ", ")
      return .refused("the user token must be a JWT signed with \(names)")
    }
    let fitting = keys.filter { $0.algorithm == algorithm }
    if isSecret, let only = fitting.first { return .key(only.signers) }
    if let id = header.key {
      return fitting.first { ByteOrdered.areSame($0.id, id) }.map { .key($0.signers) }
        ?? .unknownKey
    }
    guard let only = fitting.first, fitting.count == 1 else {
      return .refused("the user token must name its key by kid")
    }
    return .key(only.signers)
  }
}

/// The header of a JWT, which is read before anything is verified.
struct TokenHeader: Sendable {
  var algorithm: String?
  var key: String?
  /// True if the token has extensions that a verifier must understand (RFC 7515, 4.1.11). The relay
  /// supports no extension, so it refuses such a token.
  var isCritical: Bool

  /// Returns `nil` if the token is not a JWT.
  init?(of token: String) {
    let parts = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard let header = parts.first, let bytes = Base64.bytes(Substring(header))
    else { return nil }
    do throws(JSONProblem) {
      let root = try JSONTree(bytes).root.object()
      algorithm = try root.optional("alg")?.string()
      key = try root.optional("kid")?.string()
      isCritical = root.optional("crit") != nil
    } catch {
      return nil
    }
  }
}
