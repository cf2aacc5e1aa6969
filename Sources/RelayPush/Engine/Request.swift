package import RelayCore

/// One POST, ready for the wire: a path, one value for each field of its `RequestShape`, a body.
///
/// All bytes lie in one block that never moves. nghttp2 reads the bytes in place, again for every
/// resend, so a resend has the same bytes as the first request.
///
/// `@unchecked Sendable`: only the initialiser writes the block.
package final class Request: @unchecked Sendable {
  private let memory: UnsafeMutableRawPointer
  /// The offset where value *n* ends, or `absent`. Value 0 is the path.
  private var ends: UnsafeMutablePointer<Int32> { memory.assumingMemoryBound(to: Int32.self) }
  /// The path and the values of the header fields, without gaps, then the body.
  private let block: UnsafeMutablePointer<UInt8>
  private let bodyStart: Int
  package let bodyCount: Int

  private static let absent: Int32 = -1

  /// - Parameters:
  ///   - valueBytes: room for all values together; writing more is a bug and stops the process.
  ///   - write: writes the path first, then one value (or `skip()`) for each field, in the shape's
  ///     order. Values must not contain control characters.
  package init(
    _ shape: RequestShape, valueBytes: Int, body: [UInt8], write: (inout Writer) -> Void
  ) {
    let valuesMax = shape.fields.count + 1
    let endBytes = valuesMax * MemoryLayout<Int32>.stride
    memory = .allocate(
      byteCount: endBytes + valueBytes + body.count, alignment: MemoryLayout<Int32>.alignment)
    let ends = memory.bindMemory(to: Int32.self, capacity: valuesMax)
    block = (memory + endBytes).bindMemory(
      to: UInt8.self, capacity: valueBytes + body.count)
    var writer = Writer(block: block, capacity: valueBytes, ends: ends, valuesMax: valuesMax)
    write(&writer)
    precondition(writer.count == valuesMax, "a request has one value for each field of its shape")
    bodyStart = writer.used
    bodyCount = body.count
    body.withUnsafeBufferPointer { bytes in
      guard let first = bytes.baseAddress else { return }
      (block + bodyStart).update(from: first, count: bytes.count)
    }
  }

  deinit { memory.deallocate() }

  /// The body's first byte. The pointer is valid as long as the request exists.
  var body: UnsafePointer<UInt8> { UnsafePointer(block + bodyStart) }

  /// Calls `visit` for every value that is present, in order. The pointers are valid as long as the
  /// request exists, not only during the call.
  @inline(__always)
  func forEachValue(_ visit: (_ index: Int, _ bytes: UnsafeMutablePointer<UInt8>, Int) -> Void) {
    var start = 0
    var index = 0
    while start < bodyStart {
      let end = Int(ends[index])
      if end >= 0 {
        visit(index, block + start, end - start)
        start = end
      }
      index += 1
    }
  }

  package struct Writer {
    fileprivate let block: UnsafeMutablePointer<UInt8>
    fileprivate let capacity: Int
    fileprivate let ends: UnsafeMutablePointer<Int32>
    fileprivate let valuesMax: Int
    fileprivate private(set) var used = 0
    fileprivate private(set) var count = 0

    /// Appends to the current value.
    package mutating func write(_ text: String) {
      var text = text
      text.withUTF8 { bytes in
        precondition(used + bytes.count <= capacity, "the values of a request need more room")
        guard let first = bytes.baseAddress else { return }
        (block + used).update(from: first, count: bytes.count)
        used += bytes.count
      }
    }

    /// Writes the id as a UUID in lower case.
    package mutating func write(_ id: Identifier) {
      for place in 0..<32 {
        if place == 8 || place == 12 || place == 16 || place == 20 {
          write(byte: UInt8(ascii: "-"))
        }
        let word = place < 16 ? id.high : id.low
        write(byte: Hex.digit(UInt8(truncatingIfNeeded: word >> (60 - UInt64(place % 16) * 4))))
      }
    }

    package mutating func write(byte: UInt8) {
      precondition(used < capacity, "the values of a request need more room")
      block[used] = byte
      used += 1
    }

    /// Writes a whole value, or leaves out the field if the text is nil or empty.
    package mutating func value(_ text: String?) {
      guard let text, !text.isEmpty else { return skip() }
      write(text)
      end()
    }

    /// Ends the current value. A value must not be empty: use `skip()` instead.
    package mutating func end() { close(Int32(used)) }

    /// Leaves out the field.
    package mutating func skip() { close(Request.absent) }

    private mutating func close(_ end: Int32) {
      precondition(count < valuesMax, "a request has one value for each field of its shape")
      ends[count] = end
      count += 1
    }
  }
}
