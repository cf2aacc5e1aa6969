package import RelayCore

extension Feedback: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    writer.value(device.scope)
    writer.value(device.user)
    writer.value(device.client)
    writer.value(address)
    writer.value(registeredAt)
    writer.value(registration)
    writer.value(at)
    writer.value(news)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let device = DeviceKey(
      scope: try reader.value(), user: try reader.value(), client: try reader.value())
    self.init(
      device: device, address: try reader.value(), registeredAt: try reader.value(),
      registration: try reader.value(), at: try reader.value(), news: try reader.value())
  }
}

extension Feedback.News: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    switch self {
    case .retired(let reason, let since):
      writer.byte(1)
      writer.text(reason)
      writer.optional(since)
    case .silent(let since, let wakes):
      writer.byte(2)
      writer.value(since)
      writer.number(UInt64(wakes))
    case .returned: writer.byte(3)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Feedback.News")
    switch kind {
    case 1:
      self = .retired(reason: try reader.text("Feedback.News"), since: try reader.optional())
    case 2:
      self = .silent(since: try reader.value(), wakes: try reader.wakes())
    case 3: self = .returned
    default: throw reader.failure(.number(UInt64(kind)), "Feedback.News")
    }
  }
}

extension Silence: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(since)
    writer.number(UInt64(wakes))
    writer.flag(isTold)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      since: try reader.value(), wakes: try reader.wakes(), isTold: try reader.flag("Silence"))
  }
}

extension ByteReader {
  /// Reads a count of wakes, below 2³².
  fileprivate mutating func wakes() throws(CodingFailure) -> Int {
    let number = try number("wakes")
    guard let count = UInt32(exactly: number) else { throw failure(.number(number), "wakes") }
    return Int(count)
  }
}
