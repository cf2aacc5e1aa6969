package import RelayCore

extension Detail: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    switch self {
    case .record(let type, let tag, let author):
      writer.byte(1)
      writer.text(type)
      writer.text(tag)
      writer.text(author?.name)
    case .zone: writer.byte(2)
    case .notification(let detail):
      writer.byte(3)
      writer.byte(detail.kind.rawValue)
      writer.byte(detail.database.rawValue)
      writer.value(detail.notification)
      writer.optional(detail.read)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let kind = try reader.byte("Detail")
    switch kind {
    case 1:
      self = .record(
        type: try reader.text("Detail"), tag: try reader.optionalText("Detail"),
        author: try reader.optionalText("Detail").map { UserID($0) })
    case 2: self = .zone
    case 3:
      self = .notification(
        NotificationDetail(
          kind: try reader.raw(), database: try reader.raw(), notification: try reader.value(),
          read: try reader.optional()))
    default: throw reader.failure(.number(UInt64(kind)), "Detail")
    }
  }
}

extension Remembered: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.value(ordinal)
    writer.value(at)
    writer.word(fingerprint)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      ordinal: try reader.value(), at: try reader.value(),
      fingerprint: try reader.word("Remembered"))
  }
}
