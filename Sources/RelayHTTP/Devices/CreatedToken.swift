import RelayCore

/// The token of a device that has only the courier. The token is random, and the relay recognises
/// it when a client sends it back, so that the relay never takes it for an APNs token.
///
/// The token consists of key id, 16 random bytes and authentication code: 32 bytes, as many as an
/// APNs token has. It gives access to nothing.
enum CreatedToken {
  static let bytes = 32

  private static let keyBytes = 4
  private static let drawnBytes = 16
  private static let codeBytes = 12

  static func draw(with keys: any TokenKeys) -> [UInt8] {
    let places = (0..<keyBytes).reversed()
    let key = places.map { UInt8(truncatingIfNeeded: keys.signing >> ($0 * 8)) }
    let named = key + RandomID.bytes(drawnBytes)
    return named + (code(of: named, by: keys.signing, keys) ?? [])
  }

  static func isOurs(_ token: [UInt8], with keys: any TokenKeys) -> Bool {
    guard token.count == bytes else { return false }
    let named = Array(token.dropLast(codeBytes))
    let keyID = named.prefix(keyBytes).reduce(0) { $0 << 8 | UInt32($1) }
    guard let code = code(of: named, by: keyID, keys) else { return false }
    return SecretComparison.isEqual(code, Array(token.suffix(codeBytes)))
  }

  private static func code(
    of named: [UInt8], by keyID: UInt32, _ keys: any TokenKeys
  ) -> [UInt8]? {
    keys.code(of: [SealedText.Purpose.created.rawValue] + named, keyID: keyID)
      .map { Array($0.prefix(codeBytes)) }
  }
}
