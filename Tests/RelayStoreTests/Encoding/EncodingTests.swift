@testable import RelayCore
import RelayEngine
import Testing

/// The bytes in journals and tables: a value is read back equal, and reading damaged bytes at worst
/// throws an error.
@Suite struct EncodingTests {
  @Test(arguments: 0..<40)
  func `a value is read back as it was written`(seed: UInt64) throws {
    var draw = SeededRandom(seed: seed)
    for _ in 0..<50 {
      try survives(draw.lane())
      try survives(draw.message())
      try survives(draw.fanOut())
      try survives(draw.detail())
      try survives(draw.numbers())
      try survives(draw.feedback())
      try survives(
        SubscriptionRow(
          scope: draw.scope(), user: draw.user(), serial: draw.position(),
          subscription: draw.subscription()))
      try survives(
        Remembered(ordinal: draw.ordinal(), at: draw.instant(), fingerprint: draw.next()))
    }
  }

  @Test func `an ordinal or a partition beyond the store's bound is damage`() throws {
    try survives(Ordinal(1 << 48 - 1))
    try survives(PartitionID(PartitionID.count - 1))
    #expect(throws: CodingFailure.self) { try survives(Ordinal(1 << 48)) }
    #expect(throws: CodingFailure.self) { try survives(PartitionID(PartitionID.count)) }
  }

  @Test(arguments: 0..<20)
  func `a group commit can be read as a whole or for one partition`(seed: UInt64) throws {
    var draw = SeededRandom(seed: seed)
    let entries = (0..<60).map { _ in
      JournalEntry(
        partition: draw.partition(), ordinal: draw.ordinal(), at: draw.instant(),
        fact: draw.fact())
    }
    let blob = JournalRow.blob(of: entries)
    #expect(try JournalRow.entries(in: blob) { _ in true } == entries)
    let partition = entries[0].partition
    #expect(
      try JournalRow.entries(in: blob) { $0.partition == partition }
        == entries.filter { $0.partition == partition })
    #expect(
      try JournalRow.marks(in: blob)
        == entries.map { JournalRow.Mark(partition: $0.partition, ordinal: $0.ordinal) })
  }

  /// A message of 100 KB to all partitions takes its bytes once, and each partition can read it.
  @Test func `a journal row contains a message to many partitions once`() throws {
    var draw = SeededRandom(seed: 1)
    let (large, small) = (draw.message(ofBytes: 100_000), draw.message(ofBytes: 10))
    var entries = PartitionID.all.map { target in
      draw.forwarded(target.number == 63 ? small : large, to: target)
    }
    entries.insert(
      JournalEntry(
        partition: PartitionID(5), ordinal: Ordinal(1), at: draw.instant(),
        fact: .tick), at: 40)
    let blob = JournalRow.blob(of: entries)
    #expect(blob.count < 210_000, "the tick divides them: it is written once more behind it")
    #expect(try JournalRow.entries(in: blob) { _ in true } == entries)
    for target in PartitionID.all {
      #expect(
        try JournalRow.entries(in: blob) { $0.partition == target }
          == entries.filter { $0.partition == target })
    }
  }

  /// A fact's row is never longer than its footprint, so a bound on footprints also bounds the
  /// journal.
  @Test(arguments: 0..<200)
  func `a fact takes at most its footprint in the journal`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    for _ in 0..<50 {
      let entry = JournalEntry(
        partition: draw.partition(), ordinal: draw.ordinal(), at: draw.instant(),
        fact: draw.fact())
      #expect(JournalRow.blob(of: [entry]).count <= entry.fact.footprint, "\(entry.fact)")
    }
  }

  @Test(arguments: 0..<20)
  func `a truncated blob is refused`(seed: UInt64) throws {
    var draw = SeededRandom(seed: seed)
    func refuse(_ blob: [UInt8], _ read: ([UInt8]) throws -> Void) {
      for count in 0..<blob.count {
        do {
          try read(Array(blob[..<count]))
          Issue.record("\(count) of \(blob.count) bytes are read as a value")
        } catch { #expect(error is CodingFailure) }
      }
    }
    refuse(draw.lane().blob) { _ = try LaneRecord(blob: $0) }
    refuse(draw.message().blob) { _ = try Forwarded.Message(blob: $0) }
    refuse(draw.fanOut().blob) { _ = try FanOut(blob: $0) }
    refuse(row(&draw)) { _ = try JournalRow.entries(in: $0) { _ in true } }
    refuse(rowOfOneMessage(&draw)) { _ = try JournalRow.entries(in: $0) { _ in true } }
    refuse(draw.numbers().blob) { _ = try SequenceTracker(blob: $0) }
    refuse(draw.feedback().blob) { _ = try Feedback(blob: $0) }
  }

  /// Any result but a trap is right: a flipped bit may well spell another valid value.
  @Test(arguments: 0..<20)
  func `flipped bits never crash a reader`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    var rejected = 0
    let rows = [row(&draw), rowOfOneMessage(&draw)]
    for blob in [draw.lane().blob, draw.message().blob, draw.fanOut().blob] + rows {
      for index in blob.indices {
        var bytes = blob
        bytes[index] ^= 1 << UInt8(draw.number(0..<8))
        rejected += failures(of: bytes)
      }
    }
    for _ in 0..<500 { rejected += failures(of: [1] + draw.bytes()) }
    #expect(rejected > 0)
  }

  @Test func `the error names an unknown version`() {
    #expect(throws: CodingFailure(what: .version(9), part: "LaneRecord", offset: 1)) {
      try LaneRecord(blob: [9, 0])
    }
    #expect(throws: CodingFailure(what: .version(9), part: "JournalRow", offset: 1)) {
      try JournalRow.marks(in: [9, 0])
    }
  }

  @Test func `the writer cuts off lists that are too deep, and the reader refuses them`() throws {
    var deep = FieldValue.int64(1)
    for _ in 0...ByteReader.depthMax { deep = .list([deep]) }
    var writer = ByteWriter()
    writer.value(FieldValue.list([deep]))
    var reader = ByteReader(writer.bytes)
    _ = try FieldValue(from: &reader)
    #expect(reader.remaining == 0)

    var endless = ByteReader((0..<200_000).map { $0.isMultiple(of: 2) ? 9 : 1 })
    #expect(throws: CodingFailure.self) { try FieldValue(from: &endless) }
  }

  /// A writer leaves the deepest list empty, so no writer made bytes inside that list.
  @Test func `a non-empty list at the greatest depth is refused`() throws {
    let lists = (0..<ByteReader.depthMax).flatMap { _ -> [UInt8] in [9, 1] }
    var reader = ByteReader(lists + [9, 1, 2, 0])
    #expect(throws: CodingFailure(what: .depth, part: "FieldValue", offset: lists.count + 2)) {
      try FieldValue(from: &reader)
    }
    var deepest = ByteReader(lists + [9, 0])
    try survives(FieldValue(from: &deepest))
  }

  /// If a reader accepted runs that overlap, are out of order or have impossible ends, code that
  /// counts and searches missing numbers would trap.
  @Test(
    arguments: [
      [(5, 3)], [(-1, 3)], [(1, Int64.max)], [(4, 6), (6, 8)], [(4, 6), (1, 2)], [(1, 1_000)],
    ] as [[(Int64, Int64)]])
  func `impossible runs of missing numbers are refused`(runs: [(Int64, Int64)]) {
    let holes = SequenceGaps(runs.map { SequenceGaps.Run(first: $0.0, last: $0.1, since: .zero) })
    let numbers = SequenceTracker(spaces: [SequenceSpace(origin: 1, highest: 1_000, missing: holes)]
    )
    #expect(throws: CodingFailure.self) { try SequenceTracker(blob: numbers.blob) }
  }

  @Test func `a run of missing numbers may begin at 0`() throws {
    let holes = SequenceGaps([SequenceGaps.Run(first: 0, last: 0, since: .zero)])
    try survives(SequenceTracker(spaces: [SequenceSpace(origin: 0, highest: 1, missing: holes)]))
  }

  @Test func `a run of missing numbers that ends at the largest number is refused`() {
    let run = SequenceGaps.Run(first: 5, last: .max, since: .zero)
    #expect(throws: CodingFailure.self) { try survives(run) }
  }

  @Test func `a negative sequence number is refused`() {
    let numbers = SequenceTracker(spaces: [SequenceSpace(origin: 1, highest: -1)])
    #expect(throws: CodingFailure.self) { try SequenceTracker(blob: numbers.blob) }
  }

  /// JSON has no NaN and no infinity. NaN is not equal to itself, so no set could find it again.
  @Test(arguments: [Double.nan, -.nan, .signalingNaN, .infinity, -.infinity])
  func `a number that is not finite is refused`(number: Double) {
    var bits = ByteWriter()
    bits.word(number.bitPattern)
    let zero = [UInt8](repeating: 0, count: 8)
    for blob in [[3] + bits.bytes, [7] + bits.bytes, [7] + zero + bits.bytes] {
      var reader = ByteReader(blob)
      #expect(throws: CodingFailure(what: .notFinite, part: "FieldValue", offset: blob.count)) {
        try FieldValue(from: &reader)
      }
    }
    // A filter: no field, the comparator, the number 0 as value, and a distance.
    let near: [UInt8] = [0, QueryRule.Comparator.near.rawValue, 2, 0, 1] + bits.bytes
    var reader = ByteReader(near)
    #expect(throws: CodingFailure(what: .notFinite, part: "QueryRule.Filter", offset: near.count)) {
      try QueryRule.Filter(from: &reader)
    }
  }

  @Test(arguments: [0, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, -1.5])
  func `a finite number is read back as it was written`(number: Double) throws {
    try survives(FieldValue.double(number))
    try survives(FieldValue.location(latitude: number, longitude: -number))
  }

  @Test func `a count larger than the remaining bytes is refused`() {
    var writer = ByteWriter()
    writer.number(.max)
    var reader = ByteReader(writer.bytes)
    #expect(throws: CodingFailure.self) { try reader.text("text") }
    var list = ByteReader(writer.bytes)
    #expect(throws: CodingFailure.self) { _ = try list.list() as [Position] }
  }

  private func row(_ draw: inout SeededRandom) -> [UInt8] {
    let entries = (0..<5).map { _ in
      JournalEntry(
        partition: draw.partition(), ordinal: draw.ordinal(), at: draw.instant(),
        fact: draw.fact())
    }
    return JournalRow.blob(of: entries)
  }

  private func rowOfOneMessage(_ draw: inout SeededRandom) -> [UInt8] {
    let message = draw.message()
    return JournalRow.blob(of: [3, 9].map { draw.forwarded(message, to: PartitionID($0)) })
  }

  private func survives<Value: ByteCoded & Equatable>(_ value: Value) throws {
    var writer = ByteWriter()
    writer.value(value)
    var reader = ByteReader(writer.bytes)
    #expect(try Value(from: &reader) == value)
    #expect(reader.remaining == 0)
  }

  private func failures(of bytes: [UInt8]) -> Int {
    var count = 0
    do { _ = try LaneRecord(blob: bytes) } catch { count += 1 }
    do { _ = try Forwarded.Message(blob: bytes) } catch { count += 1 }
    do { _ = try FanOut(blob: bytes) } catch { count += 1 }
    do { _ = try SequenceTracker(blob: bytes) } catch { count += 1 }
    do { _ = try JournalRow.entries(in: bytes) { _ in true } } catch { count += 1 }
    return count
  }
}
