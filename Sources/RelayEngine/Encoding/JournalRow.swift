package import RelayCore

/// One group commit as the journal keeps it. Each entry is framed by its length, so that one
/// partition's entries are read without decoding those of the others.
package enum JournalRow {
  package static let version: UInt8 = 1

  /// Where one entry of a row belongs.
  package struct Mark: Hashable, Sendable {
    package var partition: PartitionID
    package var ordinal: Ordinal

    package init(partition: PartitionID, ordinal: Ordinal) {
      self.partition = partition
      self.ordinal = ordinal
    }
  }

  package static func blob(of entries: some Collection<JournalEntry>) -> [UInt8] {
    var writer = ByteWriter(capacity: 16 + entries.count * 256)
    writer.byte(version)
    writer.count(entries.count)
    for entry in entries {
      writer.value(entry.partition)
      writer.value(entry.ordinal)
      writer.value(entry.at)
      writer.frame { $0.value(entry.fact) }
    }
    return writer.bytes
  }

  /// The entries that `isWanted` picks, in their order.
  package static func entries(
    in blob: [UInt8], where isWanted: (Mark) -> Bool
  ) throws(CodingFailure) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    try read(blob) { mark, at, length, reader throws(CodingFailure) in
      guard isWanted(mark) else { return try reader.skip(length, "JournalRow") }
      let end = reader.offset + length
      let fact = try Fact(from: &reader)
      guard reader.offset == end else { throw reader.failure(.trailing, "JournalRow") }
      entries.append(
        JournalEntry(partition: mark.partition, ordinal: mark.ordinal, at: at, fact: fact))
    }
    return entries
  }

  /// Where the entries of a row belong, without decoding them.
  package static func marks(in blob: [UInt8]) throws(CodingFailure) -> [Mark] {
    var marks: [Mark] = []
    try read(blob) { mark, _, length, reader throws(CodingFailure) in
      marks.append(mark)
      try reader.skip(length, "JournalRow")
    }
    return marks
  }

  private static func read(
    _ blob: [UInt8],
    each body: (Mark, Instant, Int, inout ByteReader) throws(CodingFailure) -> Void
  ) throws(CodingFailure) {
    var reader = ByteReader(blob)
    let found = try reader.byte("JournalRow")
    guard found == version else { throw reader.failure(.version(found), "JournalRow") }
    for _ in 0..<(try reader.count("JournalRow")) {
      let mark = Mark(partition: try reader.value(), ordinal: try reader.value())
      let at: Instant = try reader.value()
      let length = try reader.frame("JournalRow")
      try body(mark, at, length, &reader)
    }
    guard reader.remaining == 0 else { throw reader.failure(.trailing, "JournalRow") }
  }
}
