import Crypto
import Foundation
package import RelayCore
package import RelayEngine

/// The keys (HMAC-SHA256) for change tokens, notification ids and push ids.
///
/// There are two sorts of keys, because their lifetimes differ. *Token keys* are rotated: the first
/// key of `server.tokenKeys` signs and all listed keys verify; without a list, the store's own key
/// signs and verifies. The *identity key* is never rotated, because the id of a change must be the
/// same at every retry, on any day. The identity key is always the store's own key, `keys/1.key`,
/// which is made at the first start and is part of every backup.
package struct KeyRing: TokenKeys, IdentityKeys, PushKeys {
  package let signing: UInt32
  /// True if the store had no key of its own and `init` made a key. `keepOwn` makes this key
  /// durable.
  package let hasMadeOwn: Bool
  private let file: KeyFile
  private let keys: [UInt32: SymmetricKey]
  /// HMAC with the identity key, prepared once because the ids of every event are computed with it.
  private let identity: HMAC<SHA256>

  /// Reads the keys, and writes a draft of a new key if the store has no key. `keepOwn` makes the
  /// draft the store's own key; before that call, the store must have saved the key's
  /// `identityCheck`.
  ///
  /// - Parameter listed: paths of key files; the first key signs.
  /// - Throws: `KeyFailure` for the first file that holds no key, cannot be written, or holds a key
  ///   whose id another listed key has.
  package init(storeDirectory: String, listed: [String] = []) throws(KeyFailure) {
    file = Self.file(in: storeDirectory)
    let own: [UInt8]
    (own, hasMadeOwn) = try Self.own(in: file)
    var keys: [UInt32: SymmetricKey] = [:]
    var signing: UInt32?
    for path in listed {
      let bytes = try KeyFile(path: path).read()
      let id = Self.id(of: bytes)
      let key = SymmetricKey(data: bytes)
      guard keys[id] == nil || keys[id] == key else {
        throw KeyFailure(
          path: path, found: "its id equals that of another listed key",
          remedy: "replace it with a newly made one")
      }
      keys[id] = key
      signing = signing ?? id
    }
    if signing == nil { keys[Self.id(of: own)] = SymmetricKey(data: own) }
    self.signing = signing ?? Self.id(of: own)
    self.keys = keys
    identity = HMAC<SHA256>(key: SymmetricKey(data: own))
  }

  /// Keeps the key that `init` drafted: the draft is the store's own key from now on. Does nothing
  /// if the store had a key before.
  ///
  /// Call this method only once: after the first call there is no draft, so a second call throws.
  package func keepOwn() throws(KeyFailure) {
    if hasMadeOwn { try file.keepDraft() }
  }

  /// Checks that a file holds a key.
  ///
  /// - Throws: `KeyFailure` if the file does not hold a key.
  package static func check(file path: String) throws(KeyFailure) {
    _ = try KeyFile(path: path).read()
  }

  /// The id that names a key in tokens: the first four bytes of the key's SHA-256.
  static func id(of key: [UInt8]) -> UInt32 {
    SHA256.hash(data: key).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// The store's own key, and whether this call made the key because the store had no key.
  private static func own(
    in file: KeyFile
  ) throws(KeyFailure) -> (bytes: [UInt8], isNew: Bool) {
    if let own = try madeOwn(in: file) { return (own, false) }
    guard mkdir(file.directory, 0o700) == 0 || errno == EEXIST else { throw file.unwritable() }
    let bytes = SymmetricKey(size: .bits256).withUnsafeBytes { [UInt8]($0) }
    try file.draft(bytes)
    return (bytes, true)
  }

  /// The key that the store has; nil if the store has no key yet.
  private static func madeOwn(in file: KeyFile) throws(KeyFailure) -> [UInt8]? {
    access(file.path, F_OK) == 0 ? try file.read() : nil
  }

  private static func file(in storeDirectory: String) -> KeyFile {
    KeyFile(path: storeDirectory + "/keys/1.key")
  }

  /// The bytes by which a store recognises its own key, as the property `identityCheck` has them;
  /// nil if the store has no key yet. Only reads files.
  ///
  /// - Throws: `KeyFailure` if the key's file cannot be read or holds no key.
  package static func identityCheck(storeDirectory: String) throws(KeyFailure) -> [UInt8]? {
    try madeOwn(in: file(in: storeDirectory)).map {
      check(of: HMAC<SHA256>(key: SymmetricKey(data: $0)))
    }
  }
}

extension KeyRing {
  package func code(of bytes: [UInt8], keyID: UInt32) -> [UInt8]? {
    keys[keyID].map { Array(HMAC<SHA256>.authenticationCode(for: bytes, using: $0)) }
  }

  package func digest(_ bytes: [UInt8]) -> [UInt8] { Array(SHA256.hash(data: bytes)) }

  /// The collapse id of a push, for `apns-collapse-id`: the value itself if it fits, otherwise its
  /// hash, of 43 characters. APNs accepts at most 64 bytes, and a header field must have no control
  /// characters and no blank at either end (RFC 9113, 8.2.1).
  package func collapseID(_ value: String) -> String {
    let bytes = value.utf8
    let isField =
      bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7f } && bytes.first != 0x20 && bytes.last != 0x20
    guard !isField || bytes.count > Self.collapseBytesMax else { return value }
    return Data(SHA256.hash(data: Data(value.utf8))).base64EncodedString()
      .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
      .replacingOccurrences(of: "=", with: "")
  }

  package static let collapseBytesMax = 64
}

extension KeyRing {
  /// Makes the notification id and the fingerprint from the two halves of one HMAC, because a
  /// second HMAC would cost time for every event. By the fingerprint a partition recognises a
  /// repeated change. The fingerprint also depends on the producer's name, by a hash without a key:
  /// the producers are few and configured, so such a hash is enough to tell them apart.
  package func identity(
    scope: Scope, producer: String, source: String, id: String
  ) -> ChangeIdentity {
    var message = Message("change")
    message.add(scope)
    message.add(source.utf8)
    message.add(id.utf8)
    let code = code(of: message)
    var fingerprint = code[16..<24].reduce(0) { $0 << 8 | UInt64($1) }
    for byte in producer.utf8 {
      fingerprint = (fingerprint ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }
    return ChangeIdentity(
      notification: Identifier(uuidFrom: code), fingerprint: fingerprint)
  }

  /// 16 bytes that the store keeps, to recognise the identity key at the next start. The bytes
  /// reveal nothing about the key.
  package var identityCheck: [UInt8] { Self.check(of: identity) }

  private static func check(of identity: HMAC<SHA256>) -> [UInt8] {
    Array(code(of: Message("check"), under: identity).prefix(16))
  }

  package func origin(producer: String, source: String) -> UInt64 {
    var message = Message("origin")
    message.add(producer.utf8)
    message.add(source.utf8)
    return code(of: message).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }

  package func clientID(forToken token: [UInt8], scope: Scope) -> ClientID {
    var message = Message("client")
    message.add(scope)
    message.add(token)
    return ClientID(Identifier(uuidFrom: code(of: message)))
  }

  package func pushID(device: DeviceKey, wake: UInt32) -> Identifier {
    var message = Message("push")
    message.add(device.scope)
    message.add(device.user.name.utf8)
    message.add(device.client.text.utf8)
    message.add("\(wake)".utf8)
    return Identifier(uuidFrom: code(of: message))
  }

  private func code(of message: Message) -> [UInt8] { Self.code(of: message, under: identity) }

  private static func code(of message: Message, under identity: HMAC<SHA256>) -> [UInt8] {
    var code = identity
    code.update(data: message.bytes)
    return code.finalize().withUnsafeBytes { [UInt8]($0) }
  }

  /// The bytes from which an id is computed: a purpose and several parts. The length of each part
  /// stands before the part, so that two different lists of parts never give the same bytes.
  private struct Message {
    private(set) var bytes: [UInt8]

    init(_ purpose: String) {
      bytes = []
      bytes.reserveCapacity(160)
      add(purpose.utf8)
    }

    mutating func add(_ scope: Scope) {
      add(scope.container.utf8)
      add(CollectionOfOne(scope.environment.rawValue))
    }

    mutating func add(_ part: some Collection<UInt8>) {
      let count = UInt32(truncatingIfNeeded: part.count)
      withUnsafeBytes(of: count.bigEndian) { bytes.append(contentsOf: $0) }
      bytes.append(contentsOf: part)
    }
  }
}
