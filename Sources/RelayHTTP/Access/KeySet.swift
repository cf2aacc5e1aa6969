import JWTKit
import RelayWire

/// Public keys that verify users' tokens, as a JSON Web Key Set lists them (RFC 7517).
///
/// The type of a key decides its only algorithm: whatever a token's header says, an RSA key
/// verifies RS256 and nothing else. Keys of other types and uses (other curves, encryption) are
/// skipped, as the RFC demands. `problems` describes the keys that should be usable and are not.
package struct KeySet: Hashable, Sendable {
  package enum Algorithm: String, Hashable, Sendable, CaseIterable {
    case es256 = "ES256"
    case rs256 = "RS256"
    case eddsa = "EdDSA"
  }

  /// One key. Its id and numbers are the same texts as in the account server's key set. Two keys
  /// are equal if these texts and the algorithms are equal.
  package struct Key: Hashable, Sendable {
    package let id: String?
    package let algorithm: Algorithm
    /// The key's numbers in base64url: x and y for ES256, n and e for RS256, x for EdDSA.
    let numbers: [String]
  }

  /// The error for bytes that are no key set: they are not JSON, have no list of keys, or list too
  /// many keys.
  package struct Unreadable: Error, Hashable, Sendable {
    package let reason: String
  }

  package private(set) var keys: [Key] = []
  /// One text for each key that should be usable and is not: the key's place in the set, and what
  /// is wrong with the key.
  package private(set) var problems: [String] = []

  /// The highest number of keys in one set; an account server publishes only a few.
  package static let keysMax = 100

  /// - Throws: `Unreadable` if the bytes are no key set. A set without usable keys is no error; the
  ///   property `keys` is then empty.
  package init(_ bytes: [UInt8]) throws(Unreadable) {
    let elements: [JSONCursor]
    do throws(JSONProblem) {
      elements = try JSONTree(bytes).root.object().required("keys").elements()
    } catch {
      throw Unreadable(reason: "is no key set (RFC 7517): \(error)")
    }
    guard elements.count <= Self.keysMax else {
      throw Unreadable(reason: "lists \(elements.count) keys, more than \(Self.keysMax)")
    }
    for (index, element) in elements.enumerated() {
      do throws(JSONProblem) {
        if let key = try Self.key(element) { try add(key, at: element) }
      } catch {
        problems.append(error.path.isEmpty ? "keys[\(index)] \(error.what)" : error.description)
      }
    }
  }

  private mutating func add(_ key: Key, at element: JSONCursor) throws(JSONProblem) {
    guard !keys.contains(where: { $0.id == key.id && $0.algorithm == key.algorithm }) else {
      throw element.problem(
        key.id.map { "has the kid '\($0)' of another \(key.algorithm.rawValue) key" }
          ?? "has no kid, as another \(key.algorithm.rawValue) key; kid chooses the key")
    }
    guard key.isUsable else {
      throw element.problem("is no \(key.algorithm.rawValue) public key: its numbers do not fit")
    }
    keys.append(key)
  }

  /// The key; `nil` means that the key has a type or use that the relay does not support.
  private static func key(_ element: JSONCursor) throws(JSONProblem) -> Key? {
    let object = try element.object()
    let type = try object.required("kty").string()
    guard type != "oct" else {
      throw object.problem("is a shared secret, which no key set may show; use sharedSecret")
    }
    if let use = try object.optional("use")?.string(), use != "sig" { return nil }
    let curve = try object.optional("crv")?.string()
    let algorithm: Algorithm
    switch (type, curve) {
    case ("EC", "P-256"): algorithm = .es256
    case ("RSA", _): algorithm = .rs256
    case ("OKP", "Ed25519"): algorithm = .eddsa
    default: return nil
    }
    if let named = try object.optional("alg")?.string(), named != algorithm.rawValue {
      // `Ed25519` is the newer name of EdDSA with the curve Ed25519 (RFC 9864).
      guard algorithm == .eddsa, named == "Ed25519" else { return nil }
    }
    guard object.optional("d") == nil else {
      throw object.problem("is a private key; only its public half belongs here")
    }
    let id = try object.optional("kid")?.string()
    let numbers: [String] =
      switch algorithm {
      case .es256: [try object.required("x").string(), try object.required("y").string()]
      case .rs256: [try object.required("n").string(), try object.required("e").string()]
      case .eddsa: [try object.required("x").string()]
      }
    return Key(id: id, algorithm: algorithm, numbers: numbers)
  }
}

extension KeySet.Key {
  /// The accepted sizes of an RSA modulus. Shorter moduli are not secure. With longer moduli, a
  /// sender of false tokens could use up the relay's CPU time.
  private static let modulusBits = 2_048...8_192

  fileprivate var isUsable: Bool {
    let bytes = numbers.compactMap { Base64.bytes($0) }
    guard bytes.count == numbers.count else { return false }
    switch algorithm {
    case .es256:
      // Creating the key checks that the point is on the curve.
      return bytes.allSatisfy { $0.count == 32 } && (try? es256) != nil
    case .rs256:
      let modulus = bytes[0].drop { $0 == 0 }
      let bits = modulus.count * 8 - (modulus.first?.leadingZeroBitCount ?? 0)
      let exponent = bytes[1].drop { $0 == 0 }
      // Today the library creates an `rs256` key from any numbers of these sizes. This code tries
      // it anyway, because the attempt costs little and a later library may refuse some numbers.
      return Self.modulusBits.contains(bits) && 1...8 ~= exponent.count
        && exponent.last.map { $0 % 2 == 1 } ?? false && exponent != [1] && (try? rs256) != nil
    case .eddsa:
      // Creating the key checks only its length. A number that is no point of the curve verifies no
      // signature.
      return bytes[0].count == 32 && (try? eddsa) != nil
    }
  }

  private var es256: ES256PublicKey {
    get throws { try ES256PublicKey(parameters: (x: numbers[0], y: numbers[1])) }
  }

  private var rs256: Insecure.RSA.PublicKey {
    get throws { try Insecure.RSA.PublicKey(modulus: numbers[0], exponent: numbers[1]) }
  }

  private var eddsa: EdDSA.PublicKey {
    get throws { try EdDSA.PublicKey(x: numbers[0], curve: .ed25519) }
  }

  /// A collection of this key only, under its own algorithm.
  func signers() async throws -> JWTKeyCollection {
    let signers = JWTKeyCollection()
    switch algorithm {
    case .es256: await signers.add(ecdsa: try es256)
    case .rs256: await signers.add(rsa: try rs256, digestAlgorithm: .sha256)
    case .eddsa: await signers.add(eddsa: try eddsa)
    }
    return signers
  }
}
