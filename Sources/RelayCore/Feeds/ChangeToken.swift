/// The opaque, signed form of a position that a client holds.
///
/// The form is deterministic: equal positions give equal bytes. Layout, big-endian: version (1),
/// key id (4), feed kind (1), scope hash (8), era (8), position (8), scan head (8), base (8), seen
/// (8), code (16).
package enum ChangeToken {
  package static let version: UInt8 = 1
  package static let byteCount = 70
  package static let codeBytes = 16

  /// The result of opening a token.
  package enum Opened: Hashable, Sendable {
    case place(FeedCursor)
    /// The bytes are not in this form (CloudKit: "Invalid continuation format").
    case garbled
    /// The bytes are in this form, but were not sealed by this relay, or are for another feed or
    /// user ("Unknown sync continuation type").
    case foreign
    /// The token was sealed with a key that this relay does not have. The relay treats it as
    /// expired.
    case unknownKey
  }

  package static func seal(
    _ place: FeedCursor, feed: FeedKey, reader: UserID, with keys: some TokenKeys
  )
    -> [UInt8]
  {
    var bytes = body(place, keyID: keys.signing, feed: feed, reader: reader, keys: keys)
    bytes.append(contentsOf: code(of: bytes, keyID: keys.signing, keys: keys) ?? [])
    return bytes
  }

  package static func open(
    _ bytes: [UInt8], feed: FeedKey, reader: UserID, with keys: some TokenKeys
  ) -> Opened {
    guard bytes.count == byteCount, bytes[0] == version, (1...3).contains(bytes[5]) else {
      return .garbled
    }
    let keyID = UInt32(truncatingIfNeeded: word(bytes[1..<5]))
    let signed = Array(bytes.dropLast(codeBytes))
    guard let expected = code(of: signed, keyID: keyID, keys: keys) else { return .unknownKey }
    guard isEqual(expected, bytes.suffix(codeBytes)) else { return .foreign }
    let place = FeedCursor(
      era: word(bytes[14..<22]), position: Position(bits: word(bytes[22..<30])),
      scanHead: word(bytes[30..<38]) == 0 ? nil : Position(bits: word(bytes[30..<38])),
      base: Position(bits: word(bytes[38..<46])), seen: Position(bits: word(bytes[46..<54])))
    let own = body(place, keyID: keyID, feed: feed, reader: reader, keys: keys)
    return own == signed ? .place(place) : .foreign
  }

  private static func body(
    _ place: FeedCursor, keyID: UInt32, feed: FeedKey, reader: UserID, keys: some TokenKeys
  ) -> [UInt8] {
    var bytes: [UInt8] = [version]
    bytes.reserveCapacity(byteCount)
    append(UInt64(keyID), count: 4, to: &bytes)
    bytes.append(feed.kindByte)
    let name = "\(feed.text)\(reader.name.utf8.count):\(reader.name)"
    bytes.append(contentsOf: keys.digest(Array(name.utf8)).prefix(8))
    append(place.era, count: 8, to: &bytes)
    append(place.position.bits, count: 8, to: &bytes)
    append(place.scanHead?.bits ?? 0, count: 8, to: &bytes)
    append(place.base.bits, count: 8, to: &bytes)
    append(place.seen.bits, count: 8, to: &bytes)
    return bytes
  }

  private static func code(of bytes: [UInt8], keyID: UInt32, keys: some TokenKeys) -> [UInt8]? {
    keys.code(of: bytes, keyID: keyID).map { Array($0.prefix(codeBytes)) }
  }

  /// Compares in a time that does not depend on where the bytes differ.
  private static func isEqual(_ left: [UInt8], _ right: ArraySlice<UInt8>) -> Bool {
    left.count == right.count && zip(left, right).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }

  private static func append(_ value: UInt64, count: Int, to bytes: inout [UInt8]) {
    for place in (0..<count).reversed() {
      bytes.append(UInt8(truncatingIfNeeded: value >> UInt64(place * 8)))
    }
  }

  private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// Computes the keyed codes in change tokens and in other values that only the relay can make. The
/// daemon uses HMAC-SHA256 with keys from key files; the simulation has its own implementation.
package protocol TokenKeys: Sendable {
  /// The id of the key that signs new codes.
  var signing: UInt32 { get }
  /// A code of at least 16 bytes; `nil` if no key has this id. Equal input must give equal output.
  func code(of bytes: [UInt8], keyID: UInt32) -> [UInt8]?
  /// At least 16 bytes of an unkeyed digest.
  func digest(_ bytes: [UInt8]) -> [UInt8]
}

extension FeedKey {
  fileprivate var kindByte: UInt8 {
    switch kind {
    case .notifications: 1
    case .database: 2
    case .zone: 3
    }
  }
}
