package import RelayCore

/// One group commit as the journal stores it. Each entry follows its length, so that a reader of
/// one partition's entries need not decode the entries of other partitions.
///
/// A message to many partitions is written once: the following entries that carry the same message
/// only refer to it. Otherwise a public record of 1 MiB would be written 64 times.
package enum JournalRow {
  package static let version: UInt8 = 1
  /// The first byte of an entry that carries the same message as the entry before; no fact begins
  /// with this byte.
  private static let repeated: UInt8 = 255

  /// Names one of the entries that a journal row holds, by its partition and its ordinal.
  package struct Mark: Hashable, Sendable {
    package var partition: PartitionID
    package var ordinal: Ordinal

    package init(partition: PartitionID, ordinal: Ordinal) {
      self.partition = partition
      self.ordinal = ordinal
    }
  }

  package static func blob(of entries: [JournalEntry]) -> [UInt8] {
    var writer = ByteWriter(capacity: 16 + entries.count * 256)
    writer.byte(version)
    writer.count(entries.count)
    var last: Forwarded.Message?
    for entry in entries {
      writer.value(entry.partition)
      writer.value(entry.ordinal)
      writer.value(entry.at)
      guard case .forwarded(let forwarded) = entry.fact else {
        last = nil
        writer.frame { $0.value(entry.fact) }
        continue
      }
      let isRepeated = forwarded.message == last
      last = forwarded.message
      writer.frame { writer in
        guard isRepeated else { return writer.value(entry.fact) }
        writer.byte(repeated)
        writer.value(forwarded.source)
        writer.value(forwarded.serial)
      }
    }
    return writer.bytes
  }

  /// The entries for which `isWanted` is true, in their order.
  package static func entries(
    in blob: [UInt8], where isWanted: (Mark) -> Bool
  ) throws(CodingFailure) -> [JournalEntry] {
    var entries: [JournalEntry] = []
    var last = LastMessage()
    try read(blob) { mark, at, length, reader throws(CodingFailure) in
      var ahead = reader
      let isRepeated = length > 0 ? try ahead.byte("JournalRow") == repeated : false
      if !isRepeated { last = LastMessage(at: reader) }
      guard isWanted(mark) else { return try reader.skip(length, "JournalRow") }
      let end = reader.offset + length
      let fact: Fact
      if isRepeated {
        reader = ahead
        fact = .forwarded(
          Forwarded(
            source: try reader.value(), serial: try reader.value(),
            message: try last.message(at: reader)))
      } else {
        fact = try Fact(from: &reader)
        if case .forwarded(let forwarded) = fact { last.known = forwarded.message }
      }
      guard reader.offset == end else { throw reader.failure(.trailing, "JournalRow") }
      entries.append(
        JournalEntry(partition: mark.partition, ordinal: mark.ordinal, at: at, fact: fact))
    }
    return entries
  }

  /// The last message that the row holds with all its bytes; later entries may repeat it. It is
  /// decoded only when needed: the reader may want none of the entries with this message.
  private struct LastMessage {
    var place: ByteReader?
    var known: Forwarded.Message?

    init(at place: ByteReader? = nil) { self.place = place }

    mutating func message(at reader: ByteReader) throws(CodingFailure) -> Forwarded.Message {
      if let known { return known }
      guard var place, case .forwarded(let forwarded) = try Fact(from: &place) else {
        throw reader.failure(.number(UInt64(JournalRow.repeated)), "JournalRow")
      }
      known = forwarded.message
      return forwarded.message
    }
  }

  /// The partitions and ordinals of a row's entries, read without decoding the entries.
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
