package import RelayCore

extension ZoneNumbers: BlobCoded {
  package static var blobVersion: UInt8 { 1 }

  package func write(to writer: inout ByteWriter) {
    writer.byte(gap.rawValue)
    writer.list(spaces)
    writer.optional(outlived)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    let gap: Gap = try reader.raw()
    self.init(spaces: try reader.list(), gap: gap, outlived: try reader.optional())
  }
}

extension NumberSpace: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.word(origin)
    writer.signed(highest)
    writer.value(missing)
    writer.count(settled.count)
    for (subject, number) in settled.sorted(by: { $0.key < $1.key }) {
      writer.word(subject)
      writer.signed(number)
    }
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      origin: try reader.word("NumberSpace"), highest: try reader.signed("NumberSpace"),
      missing: try reader.value())
    for _ in 0..<(try reader.count("NumberSpace")) {
      let subject = try reader.word("NumberSpace")
      settled[subject] = try reader.signed("NumberSpace")
    }
  }
}

extension Outlived: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.word(origin)
    writer.signed(end)
    writer.signed(highest)
    writer.value(holes)
    writer.value(since)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      origin: try reader.word("Outlived"), end: try reader.signed("Outlived"),
      highest: try reader.signed("Outlived"), holes: try reader.value(),
      since: try reader.value())
  }
}

extension Holes: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.list(runs) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(try reader.list())
  }
}

extension Holes.Run: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.signed(first)
    writer.signed(last)
    writer.value(since)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      first: try reader.signed("Holes"), last: try reader.signed("Holes"),
      since: try reader.value())
  }
}
