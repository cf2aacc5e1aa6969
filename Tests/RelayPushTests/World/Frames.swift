import NIOCore

/// HTTP/2 frames, as far as a scripted peer needs them (RFC 9113, section 4).
enum Frame {
  enum Kind: UInt8 {
    case data = 0
    case headers = 1
    case reset = 3
    case settings = 4
    case ping = 6
    case goAway = 7
    case windowUpdate = 8
  }

  struct Received {
    var type: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: ByteBuffer
  }

  static let prefaceBytes = 24

  static func take(from buffer: inout ByteBuffer) -> Received? {
    let start = buffer.readerIndex
    guard buffer.readableBytes >= 9,
      let bytes = buffer.getBytes(at: start, length: 5),
      let stream = buffer.getInteger(at: start + 5, as: UInt32.self)
    else { return nil }
    let length = Int(bytes[0]) << 16 | Int(bytes[1]) << 8 | Int(bytes[2])
    guard buffer.readableBytes >= 9 + length else { return nil }
    buffer.moveReaderIndex(forwardBy: 9)
    guard let payload = buffer.readSlice(length: length) else { return nil }
    return Received(type: bytes[3], flags: bytes[4], stream: stream, payload: payload)
  }

  static func write(
    _ kind: Kind, flags: UInt8 = 0, stream: UInt32, _ payload: [UInt8], to buffer: inout ByteBuffer
  ) {
    buffer.writeBytes([
      UInt8(payload.count >> 16 & 255), UInt8(payload.count >> 8 & 255), UInt8(payload.count & 255),
      kind.rawValue, flags,
    ])
    buffer.writeInteger(stream)
    buffer.writeBytes(payload)
  }

  static func word(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// `:status` as a literal that is not indexed, by its name in HPACK's static table.
  static func status(_ status: Int) -> [UInt8] { [0x08, 3] + Array("\(status)".utf8) }
}
