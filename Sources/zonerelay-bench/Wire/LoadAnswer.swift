import NIOCore

/// One HTTP answer.
struct LoadAnswer: Sendable {
  var status: Int
  var body: ByteBuffer
  /// The time from the moment when the request was due to the last byte of the answer.
  var took = TimeAmount.zero

  var text: String { String(buffer: body) }

  /// The whole number that follows `key` in the body, such as `"accepted":`.
  func number(after key: StaticString) -> Int? {
    body.withUnsafeReadableBytes { bytes in
      bytes.end(of: key, from: 0).flatMap { bytes.number(from: $0) }
    }
  }

  /// The text that follows the first `key` in the body, up to the next quotation mark.
  func string(after key: StaticString) -> String? {
    body.withUnsafeReadableBytes { bytes in
      guard let start = bytes.end(of: key, from: 0),
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\""))
      else { return nil }
      return String(decoding: bytes[start..<end], as: UTF8.self)
    }
  }
}

/// Splits a stream of HTTP/1.1 answers. It supports only zonerelay's form: a status line, fields,
/// and as many bytes as `content-length` says.
struct AnswerScanner {
  private var buffer = ByteBuffer()
  private var status = 0
  private var length: Int?

  mutating func append(_ bytes: inout ByteBuffer) {
    if buffer.readableBytes == 0 {
      buffer = bytes
    } else {
      buffer.writeBuffer(&bytes)
    }
  }

  /// The next answer; nil if the answer is not complete yet.
  mutating func next() throws -> LoadAnswer? {
    if length == nil, try !readHead() { return nil }
    guard let length, let body = buffer.readSlice(length: length) else { return nil }
    self.length = nil
    return LoadAnswer(status: status, body: body)
  }

  private mutating func readHead() throws -> Bool {
    let head: (end: Int, status: Int, length: Int?)? = buffer.withUnsafeReadableBytes { bytes in
      guard let end = bytes.end(of: "\r\n\r\n", from: 0), bytes.count > 12 else { return nil }
      let status = bytes[9..<12].reduce(0) { $0 * 10 + Int($1) - 0x30 }
      var place = bytes.end(of: "\r\ncontent-length:", from: 0, ignoringCase: true)
      if let start = place, start > end { place = nil }
      return (end, status, place.flatMap { bytes.number(from: $0) })
    }
    guard let head else { return false }
    guard let length = head.length else {
      throw BenchError("an answer without content-length: \(String(buffer: buffer).prefix(500))")
    }
    buffer.moveReaderIndex(forwardBy: head.end)
    (status, self.length) = (head.status, length)
    return true
  }
}

extension UnsafeRawBufferPointer {
  /// The whole number that begins at `place`, perhaps after spaces; nil if there is none.
  fileprivate func number(from place: Int) -> Int? {
    let digits = self[place...].drop { $0 == UInt8(ascii: " ") }
      .prefix { (0x30...0x39).contains($0) }
    return digits.isEmpty ? nil : digits.reduce(0) { $0 * 10 + Int($1) - 0x30 }
  }

  /// The offset after the first `key`; nil if the text does not contain it.
  ///
  /// - Parameter ignoringCase: if true, `key` is in lower case and matches upper case too.
  func end(of key: StaticString, from start: Int, ignoringCase: Bool = false) -> Int? {
    let length = key.utf8CodeUnitCount
    let mask: UInt8 = ignoringCase ? 0x20 : 0
    guard count - start >= length else { return nil }
    for place in start...(count - length) {
      var index = 0
      while index < length {
        let (wanted, byte) = (key.utf8Start[index], self[place + index])
        let isLetter = (0x61...0x7a).contains(wanted)
        guard wanted == (isLetter ? byte | mask : byte) else { break }
        index += 1
      }
      if index == length { return place + length }
    }
    return nil
  }
}
