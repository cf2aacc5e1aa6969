import Foundation

/// A key of several parts in one blob. Such blobs are ordered by their parts: texts in byte order,
/// and keys with equal first parts beside each other.
///
/// The key is a blob and not a text, because a bound text ends at its first NUL: two names that
/// differ only behind a NUL would become one, and one user would read another's feed.
struct StoreKey: Hashable {
  private(set) var bytes: [UInt8] = []

  /// Appends a text and two zero bytes, which end it. After each zero byte inside the text comes a
  /// byte of value 1.
  mutating func text(_ value: String) {
    // A text without a zero byte, as nearly every text is, is appended at once, which is faster.
    if value.utf8.contains(0) {
      for byte in value.utf8 { bytes += byte == 0 ? [0, 1] : [byte] }
    } else {
      bytes += value.utf8
    }
    bytes += [0, 0]
  }

  mutating func byte(_ value: UInt8) { bytes.append(value) }

  /// Appends the last part, which needs no escape because nothing follows it.
  mutating func rest(_ value: some Sequence<UInt8>) { bytes.append(contentsOf: value) }

  mutating func word(_ value: UInt64) {
    withUnsafeBytes(of: value.bigEndian) { bytes.append(contentsOf: $0) }
  }

  var data: Data { Data(bytes) }

  /// The least key greater than all keys that begin with this one.
  var end: Data {
    var end = bytes
    while let last = end.popLast() {
      if last < 0xff {
        end.append(last + 1)
        break
      }
    }
    return Data(end)
  }
}

/// Splits a key into its parts.
struct StoreKeyReader {
  struct Malformed: Error {}

  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: some Sequence<UInt8>) { self.bytes = [UInt8](bytes) }

  mutating func text() throws(Malformed) -> String {
    var part: [UInt8] = []
    while true {
      let next = try byte()
      guard next == 0 else {
        part.append(next)
        continue
      }
      let mark = try byte()
      if mark == 0 { break }
      guard mark == 1 else { throw Malformed() }
      part.append(0)
    }
    return try Self.text(part)
  }

  mutating func byte() throws(Malformed) -> UInt8 {
    guard offset < bytes.count else { throw Malformed() }
    defer { offset += 1 }
    return bytes[offset]
  }

  mutating func word() throws(Malformed) -> UInt64 {
    var value: UInt64 = 0
    for _ in 0..<8 { value = value << 8 | UInt64(try byte()) }
    return value
  }

  mutating func rest() throws(Malformed) -> String {
    defer { offset = bytes.count }
    return try Self.text(Array(bytes[offset...]))
  }

  private static func text(_ bytes: [UInt8]) throws(Malformed) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Malformed() }
    return text
  }
}
