/// A small JSON reader: it tells whether bytes are one valid value, and finds members in it.
struct JSONChecker {
  indirect enum Value: Hashable {
    case null
    case flag(Bool)
    case number(String)
    case string(String)
    case array([Value])
    case object([String: Value])

    subscript(_ key: String) -> Value? {
      guard case .object(let members) = self else { return nil }
      return members[key]
    }
  }

  private let bytes: [UInt8]
  private var place = 0

  /// The value of `bytes`; `nil` unless `bytes` are one valid JSON value and nothing else.
  static func read(_ bytes: [UInt8]) -> Value? {
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var checker = JSONChecker(bytes: bytes)
    guard let value = checker.value(), checker.place == bytes.count else { return nil }
    return value
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func take(_ text: String) -> Bool {
    guard bytes[place...].starts(with: text.utf8) else { return false }
    place += text.utf8.count
    return true
  }

  private mutating func value() -> Value? {
    guard let next else { return nil }
    switch next {
    case UInt8(ascii: "{"): return object()
    case UInt8(ascii: "["): return array()
    case UInt8(ascii: "\""): return string().map { .string($0) }
    case UInt8(ascii: "t"): return take("true") ? .flag(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .flag(false) : nil
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    default: return number()
    }
  }

  private mutating func object() -> Value? {
    place += 1
    var members: [String: Value] = [:]
    if take("}") { return .object(members) }
    repeat {
      guard let key = string(), members[key] == nil, take(":"), let value = value() else {
        return nil
      }
      members[key] = value
    } while take(",")
    return take("}") ? .object(members) : nil
  }

  private mutating func array() -> Value? {
    place += 1
    var items: [Value] = []
    if take("]") { return .array(items) }
    repeat {
      guard let value = value() else { return nil }
      items.append(value)
    } while take(",")
    return take("]") ? .array(items) : nil
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = next {
      place += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case 0..<0x20: return nil
      case UInt8(ascii: "\\"):
        guard let escaped = escape() else { return nil }
        text.append(escaped)
      default: text.append(byte)
      }
    }
    return nil
  }

  /// Reads only what the encoder writes: a quote, a backslash, a control character.
  private mutating func escape() -> UInt8? {
    if take("\"") { return UInt8(ascii: "\"") }
    if take("\\") { return UInt8(ascii: "\\") }
    guard take("u00"), place + 2 <= bytes.count else { return nil }
    let digits = String(decoding: bytes[place..<(place + 2)], as: UTF8.self)
    place += 2
    return UInt8(digits, radix: 16).flatMap { $0 < 0x20 ? $0 : nil }
  }

  private mutating func number() -> Value? {
    let start = place
    while let byte = next, "+-.0123456789eE".utf8.contains(byte) { place += 1 }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    let digits = text.drop { $0 == "-" }
    guard Double(text) != nil, let first = digits.first, first.isNumber else { return nil }
    guard first != "0" || digits.count == 1 || !digits.dropFirst().first!.isNumber else {
      return nil
    }
    return .number(text)
  }
}
