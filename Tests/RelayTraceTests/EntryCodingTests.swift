import RelayCore
import RelayEngine
import Testing

@testable import RelayTrace

/// The byte form of entries.
@Suite struct EntryCodingTests {
  private static func coded(_ entries: [TraceEntry]) -> [UInt8] {
    var writer = EntryWriter()
    for entry in entries { writer.write(entry) }
    return writer.bytes.bytes
  }

  private static var entries: [TraceEntry] {
    Sample.events.enumerated().map { Sample.entry(UInt64($0.offset * 3), $0.element) }
  }

  @Test func `an entry of every kind is read as it was written, alone and among others`() throws {
    let all = Self.entries
    #expect(all.count > 50)
    for entry in all {
      var reader = EntryReader(Self.coded([entry]))
      #expect(try reader.entries(1) == [entry])
    }
    var reader = EntryReader(Self.coded(all + all))
    #expect(try reader.entries(all.count * 2) == all + all)
  }

  @Test func `names that repeat are written once`() {
    let one = Self.coded([Sample.entry(1)]).count
    let many = Self.coded((1...100).map { Sample.entry($0) }).count
    #expect(many < one * 60, "\(one) bytes for one, \(many) for a hundred")
  }

  /// What a damaged file holds must not end the process.
  @Test func `damaged bytes are refused and never trap`() {
    let bytes = Self.coded(Self.entries)
    var random = SystemRandomNumberGenerator()
    for length in 0..<bytes.count {
      var reader = EntryReader(Array(bytes.prefix(length)))
      #expect(throws: CodingFailure.self) { try reader.entries(Self.entries.count) }
    }
    for _ in 0..<2_000 {
      var damaged = bytes
      for _ in 0..<3 {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(
          in: 0...255, using: &random)
      }
      var reader = EntryReader(damaged)
      // Some damage gives other entries; none may trap.
      _ = try? reader.entries(Self.entries.count)
    }
  }
}
