package import RelayCore

extension SequenceTracker: BlobCoded {
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

extension SequenceSpace: ByteCoded {
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
      origin: try reader.word("SequenceSpace"), highest: try reader.sequence(),
      missing: try reader.value())
    // All missing numbers must be below `highest`: the next hole opens above `highest`, and the
    // runs must stay in order.
    if let last = missing.runs.last?.last, last >= highest { throw reader.wrong(last) }
    for _ in 0..<(try reader.count("SequenceSpace")) {
      let subject = try reader.word("SequenceSpace")
      settled[subject] = try reader.signed("SequenceSpace")
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
      origin: try reader.word("Outlived"), end: try reader.sequence(),
      highest: try reader.sequence(), holes: try reader.value(),
      since: try reader.value())
  }
}

extension SequenceGaps: ByteCoded {
  package func write(to writer: inout ByteWriter) { writer.list(runs) }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(try reader.list())
    // Counting and searching need the runs as they were written: in order and without overlap.
    for (run, next) in zip(runs, runs.dropFirst()) where run.last >= next.first {
      throw reader.wrong(next.first)
    }
  }
}

extension SequenceGaps.Run: ByteCoded {
  package func write(to writer: inout ByteWriter) {
    writer.signed(first)
    writer.signed(last)
    writer.value(since)
  }

  package init(from reader: inout ByteReader) throws(CodingFailure) {
    self.init(
      first: try reader.sequence(), last: try reader.sequence(), since: try reader.value())
    guard first <= last, last < .max else { throw reader.wrong(last) }
  }
}

extension ByteReader {
  /// Reads a producer's number, which is never below zero.
  fileprivate mutating func sequence() throws(CodingFailure) -> Int64 {
    let number = try signed("sequence")
    guard number >= 0 else { throw wrong(number) }
    return number
  }

  fileprivate func wrong(_ number: Int64) -> CodingFailure {
    failure(.number(UInt64(bitPattern: number)), "sequence")
  }
}
