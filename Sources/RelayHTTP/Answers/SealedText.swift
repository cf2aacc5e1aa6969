import RelayCore
import RelayWire

/// Seals texts that a client keeps and returns unchanged: an authentication code proves that this
/// relay made them. A sealed text is base64url of key id, texts and code, so it fits into a URL.
enum SealedText {
  /// What a sealed text is for. A text sealed for one purpose never opens for another.
  enum Purpose: UInt8 {
    case courier = 0x63
    case digest = 0x64
    /// The token that `tokens/create` gives a device that has only the courier. A `CreatedToken` is
    /// no sealed text, but its authentication code covers this byte, too.
    case created = 0x6d
  }

  private static let codeBytes = 16

  static func seal(_ texts: [String], for purpose: Purpose, with keys: any TokenKeys) -> String {
    var bytes = (0..<4).reversed().map { UInt8(truncatingIfNeeded: keys.signing >> ($0 * 8)) }
    for text in texts {
      // Two bytes suffice for the length of every sealed text: names have at most 255 bytes.
      let count = UInt16(clamping: text.utf8.count)
      bytes.append(UInt8(count >> 8))
      bytes.append(UInt8(truncatingIfNeeded: count))
      bytes.append(contentsOf: text.utf8.prefix(Int(count)))
    }
    let code = keys.code(of: [purpose.rawValue] + bytes, keyID: keys.signing) ?? []
    return Base64.urlText(bytes + code.prefix(codeBytes))
  }

  /// The outcome of reading a sealed text that a client has sent back.
  enum Opened: Hashable {
    case texts([String])
    /// The text does not have the form of a sealed text.
    case garbled
    /// The text has the form of a sealed text, but this relay did not seal it, or sealed it for
    /// another purpose.
    case foreign
    /// The text is sealed with a key that this relay does not have.
    case unknownKey
  }

  /// The texts; `nil` means that this relay did not seal `count` texts for this purpose.
  static func open(
    _ text: String, for purpose: Purpose, count: Int, with keys: any TokenKeys
  ) -> [String]? {
    let opened = read(text, for: purpose, count: count, with: keys)
    return if case .texts(let texts) = opened { texts } else { nil }
  }

  static func read(
    _ text: String, for purpose: Purpose, count: Int, with keys: any TokenKeys
  ) -> Opened {
    guard let all = Base64.bytes(text), all.count > 4 + codeBytes else { return .garbled }
    let bytes = Array(all.dropLast(codeBytes))
    guard let texts = texts(in: bytes.dropFirst(4), count: count) else { return .garbled }
    let keyID = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    guard let code = keys.code(of: [purpose.rawValue] + bytes, keyID: keyID) else {
      return .unknownKey
    }
    let isOurs = SecretComparison.isEqual(
      Array(code.prefix(codeBytes)), Array(all.suffix(codeBytes)))
    return isOurs ? .texts(texts) : .foreign
  }

  private static func texts(in bytes: ArraySlice<UInt8>, count: Int) -> [String]? {
    var texts: [String] = []
    var rest = bytes
    while rest.count >= 2, texts.count < count {
      let length = Int(rest.removeFirst()) << 8 | Int(rest.removeFirst())
      guard rest.count >= length else { return nil }
      texts.append(String(decoding: rest.prefix(length), as: UTF8.self))
      rest = rest.dropFirst(length)
    }
    return texts.count == count && rest.isEmpty ? texts : nil
  }
}
