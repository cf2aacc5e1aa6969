import Crypto
import Foundation
import RelayCore
import Synchronization

extension APNsSettings {
  /// A provider token's signing key, as downloaded from Apple.
  package struct Key: Sendable {
    package let keyID: String
    package let teamID: String
    let privateKey: P256.Signing.PrivateKey

    /// - Parameter pem: the text of `AuthKey_….p8`: a P-256 key in PKCS#8.
    package init(pem: String, keyID: String, teamID: String) throws(PushProblem) {
      guard keyID.utf8.count == 10, keyID.isPlain() else {
        throw PushProblem(
          .keyID, "\"\(keyID)\" is no APNs key id",
          remedy: "give the ten letters and digits that name the key in Apple's developer account")
      }
      guard teamID.utf8.count == 10, teamID.isPlain() else {
        throw PushProblem(
          .teamID, "\"\(teamID)\" is no Apple team id",
          remedy: "give the ten letters and digits under Membership in Apple's developer account")
      }
      privateKey = try PushProblem.explain(
        .providerKey, "the APNs key \(keyID) is no P-256 private key in PKCS#8",
        remedy: "use the AuthKey_\(keyID).p8 file unchanged, as downloaded from Apple"
      ) {
        try P256.Signing.PrivateKey(pemRepresentation: pem)
      }
      self.keyID = keyID
      self.teamID = teamID
    }

    /// The name of the file that keeps this key's tokens. The name contains a part of the public
    /// key, so that a wrong key with the same id does not replace the right key's tokens.
    var fileName: String {
      let part = privateKey.publicKey.rawRepresentation.prefix(8)
      return "\(teamID)-\(keyID)-\(Hex.text(part)).token"
    }
  }
}

/// Provider tokens of one key. All routes with the same key share one credential, because Apple
/// counts the token updates of a team, not of a connection.
package final class APNsCredential: Sendable {
  /// A signed token, ready for the `authorization` field.
  struct Bearer: Hashable, Sendable {
    let serial: Int
    let text: String
  }

  private let key: APNsSettings.Key
  private let rotation: Mutex<ProviderTokenRotation>
  private let onKeepFailure: @Sendable (any Error) -> Void
  private let keptPath: String?

  /// - Parameters:
  ///   - directory: the existing directory that keeps tokens across restarts. `nil` means that
  ///     tokens are not kept.
  ///   - onKeepFailure: called when the token cannot be kept. Pushes continue; but if the relay
  ///     restarts within 20 minutes after this token, Apple refuses the next token for a while.
  package init(
    _ key: APNsSettings.Key, keptIn directory: String? = nil,
    onKeepFailure: @escaping @Sendable (any Error) -> Void = { _ in }
  ) async throws(PushProblem) {
    self.key = key
    keptPath = directory.map { "\($0)/\(key.fileName)" }
    self.onKeepFailure = onKeepFailure
    let kept = keptPath.map(PersistedProviderToken.read) ?? []
    rotation = Mutex(
      ProviderTokenRotation(kept: kept.filter { Self.has(key, signed: $0.text) }))
  }

  /// True if the key signed the kept token. Otherwise the token belongs to another key or is
  /// damaged.
  private static func has(_ key: APNsSettings.Key, signed text: String) -> Bool {
    let parts = text.split(separator: ".")
    // A signature in another form counts as the signature of another key.
    guard parts.count == 3, let bytes = Base64URL.bytes(parts[2]),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: bytes)
    else { return false }
    let signed = Data("\(parts[0]).\(parts[1])".utf8)
    return key.privateKey.publicKey.isValidSignature(signature, for: signed)
  }

  private func keep(_ rotation: ProviderTokenRotation) {
    guard let keptPath else { return }
    let tokens = rotation.tokens.map {
      PersistedProviderToken(firstUse: $0.firstUse, text: $0.text)
    }
    do {
      try PersistedProviderToken.write(tokens, to: keptPath)
    } catch {
      onKeepFailure(error)
    }
  }

  /// The token to use now. Signs a new one when needed, about once in 50 minutes, unless another
  /// process of this relay has kept a fresh one in the directory: the daemon and `zonerelay doctor`
  /// share their tokens, because Apple counts updates by team and not by process.
  func bearer(at now: Instant) throws -> Bearer {
    try rotation.withLock { rotation in
      let serial: Int
      switch rotation.use(at: now) {
      case .keep(let current): serial = current
      case .sign(let fresh):
        let shared = shared(fresh, at: now, rotation)
        let text = try shared?.text ?? sign(at: now)
        rotation.signed(fresh, text, at: shared?.firstUse ?? now)
        if shared == nil { keep(rotation) }
        serial = fresh
      }
      return Bearer(serial: serial, text: "bearer " + (rotation.current?.text ?? ""))
    }
  }

  /// The newest token in the file, if another process has signed it and it is fresh.
  private func shared(
    _ serial: Int, at now: Instant, _ rotation: ProviderTokenRotation
  ) -> PersistedProviderToken? {
    guard let keptPath, let newest = PersistedProviderToken.read(keptPath).last,
      ProviderTokenRotation.Token(
        serial: serial, firstUse: newest.firstUse, text: newest.text
      ).isFresh(at: now),
      !rotation.known.contains(newest.text),
      Self.has(key, signed: newest.text)
    else { return nil }
    return newest
  }

  /// Apple answered that this token has expired.
  func expired(_ bearer: Bearer, at now: Instant) -> ProviderTokenRotation.ExpiredAction {
    rotation.withLock { $0.expired(bearer.serial, at: now) }
  }

  /// Apple answered that this token came too soon after another.
  func tooSoon(_ bearer: Bearer, at now: Instant) {
    rotation.withLock { $0.tooSoon(bearer.serial, at: now) }
  }

  private func sign(at now: Instant) throws -> String {
    try Base64URL.token { header in
      header.member("alg", "ES256")
      header.member("kid", key.keyID)
      header.member("typ", "JWT")
    } claims: { claims in
      claims.member("iss", key.teamID)
      claims.member("iat", now.milliseconds / 1_000)
    } by: { signed in
      try key.privateKey.signature(for: signed).rawRepresentation
    }
  }
}
