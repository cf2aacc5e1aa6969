import JWTKit
import RelayCore
import Synchronization

extension APNsSettings {
  /// A provider token's signing key, as downloaded from Apple.
  package struct Key: Sendable {
    package let keyID: String
    package let teamID: String
    let privateKey: ES256PrivateKey

    /// - Parameter pem: the text of `AuthKey_….p8`: a P-256 key in PKCS#8.
    package init(pem: String, keyID: String, teamID: String) throws(PushProblem) {
      guard Self.isTenPlain(keyID) else {
        throw PushProblem(
          .keyID, "\"\(keyID)\" is no APNs key id",
          remedy: "give the ten letters and digits that name the key in Apple's developer account")
      }
      guard Self.isTenPlain(teamID) else {
        throw PushProblem(
          .teamID, "\"\(teamID)\" is no Apple team id",
          remedy: "give the ten letters and digits under Membership in Apple's developer account")
      }
      do {
        privateKey = try ES256PrivateKey(pem: pem)
      } catch {
        throw PushProblem(
          .providerKey, "the APNs key \(keyID) is no P-256 private key in PKCS#8: \(error)",
          remedy: "use the AuthKey_\(keyID).p8 file unchanged, as downloaded from Apple")
      }
      self.keyID = keyID
      self.teamID = teamID
    }

    /// The name of the file that keeps this key's tokens. Part of the public key is in it, so that
    /// a wrong key with the right id does not replace the tokens of the right one.
    var fileName: String {
      // JWTKit always knows the public key of a private one.
      let point = Base64URL.bytes(privateKey.parameters?.x[...] ?? "") ?? []
      return "\(teamID)-\(keyID)-\(Hex.text(point.prefix(8))).token"
    }

    private static func isTenPlain(_ text: String) -> Bool {
      text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
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

  private let keyID: String
  private let teamID: String
  private let algorithm: any JWTAlgorithm
  private let state = Mutex(State())
  private let onKeepFailure: @Sendable (any Error) -> Void

  private struct State {
    var rotation = ProviderTokenRotation()
    /// The tokens, by serial.
    var texts: [Int: String] = [:]
  }

  private let keptPath: String?

  /// - Parameters:
  ///   - directory: the existing directory that keeps tokens across restarts. `nil` means that
  ///     tokens are not kept.
  ///   - onKeepFailure: called when the token cannot be kept. Pushes continue; after a restart
  ///     within 20 minutes Apple refuses the next token for a while.
  package init(
    _ key: APNsSettings.Key, keptIn directory: String? = nil,
    onKeepFailure: @escaping @Sendable (any Error) -> Void = { _ in }
  ) async throws(PushProblem) {
    keyID = key.keyID
    teamID = key.teamID
    keptPath = directory.map { "\($0)/\(key.fileName)" }
    self.onKeepFailure = onKeepFailure
    let keys = JWTKeyCollection()
    await keys.add(ecdsa: key.privateKey)
    do {
      algorithm = try await keys.getKey()
    } catch {
      throw PushProblem(
        .providerKey, "the APNs key \(key.keyID) cannot sign: \(error)",
        remedy: "use the AuthKey_\(key.keyID).p8 file unchanged, as downloaded from Apple")
    }
    let kept = (keptPath.map(PersistedProviderToken.read) ?? []).filter { isOurs($0.text) }
    state.withLock { state in
      state.rotation = ProviderTokenRotation(keptSince: kept.map(\.firstUse))
      for (token, kept) in zip(state.rotation.tokens, kept) {
        state.texts[token.serial] = kept.text
      }
    }
  }

  /// True if our key signed the kept token. Otherwise the token belongs to another key or is
  /// damaged.
  private func isOurs(_ text: String) -> Bool {
    let parts = text.split(separator: ".")
    guard parts.count == 3, let signature = Base64URL.bytes(parts[2]) else { return false }
    let signed = Array("\(parts[0]).\(parts[1])".utf8)
    // A signature that cannot be verified counts as foreign.
    return (try? algorithm.verify(signature, signs: signed)) ?? false
  }

  private func keep(_ state: State) {
    guard let keptPath else { return }
    let tokens = state.rotation.tokens.compactMap { token in
      state.texts[token.serial].map { PersistedProviderToken(firstUse: token.firstUse, text: $0) }
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
    try state.withLock { state in
      switch state.rotation.use(at: now) {
      case .keep(let serial):
        return bearer(serial, state)
      case .sign(let serial):
        let shared = shared(serial, at: now, state)
        state.texts[serial] = try shared?.text ?? sign(at: now)
        state.rotation.signed(serial, at: shared?.firstUse ?? now)
        state.texts = state.texts.filter { state.rotation.remembers($0.key) }
        if shared == nil { keep(state) }
        return bearer(serial, state)
      }
    }
  }

  /// The newest token in the file, if another process has signed it and it is fresh.
  private func shared(
    _ serial: Int, at now: Instant, _ state: State
  ) -> PersistedProviderToken? {
    guard let keptPath, let newest = PersistedProviderToken.read(keptPath).last,
      ProviderTokenRotation.Token(serial: serial, firstUse: newest.firstUse).isFresh(at: now),
      !state.texts.values.contains(newest.text), isOurs(newest.text)
    else { return nil }
    return newest
  }

  private func bearer(_ serial: Int, _ state: State) -> Bearer {
    Bearer(serial: serial, text: "bearer " + (state.texts[serial] ?? ""))
  }

  /// Apple answered that this token has expired.
  func expired(_ bearer: Bearer, at now: Instant) -> ProviderTokenRotation.ExpiredAction {
    state.withLock { $0.rotation.expired(bearer.serial, at: now) }
  }

  /// Apple answered that this token came too soon after another.
  func tooSoon(_ bearer: Bearer, at now: Instant) {
    state.withLock { $0.rotation.tooSoon(bearer.serial, at: now) }
  }

  private struct Claims: JWTPayload {
    var iss: String
    var iat: Int64

    func verify(using algorithm: some JWTAlgorithm) throws {}
  }

  private func sign(at now: Instant) throws -> String {
    let serializer = DefaultJWTSerializer()
    let header = JWTHeader(fields: ["alg": "ES256", "kid": .string(keyID), "typ": "JWT"])
    let claims = Claims(iss: teamID, iat: now.milliseconds / 1_000)
    let head = Base64URL.text(try serializer.jsonEncoder.encode(header))
    // The serializer's output is base64 already.
    let payload = String(decoding: try serializer.serialize(claims, header: header), as: UTF8.self)
    let signature = try algorithm.sign(Array("\(head).\(payload)".utf8))
    return "\(head).\(payload).\(Base64URL.text(signature))"
  }
}
