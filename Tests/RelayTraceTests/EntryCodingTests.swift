import RelayCore
import Testing

/// The byte form of entries.
@Suite struct EntryCodingTests {
  private static func coded(_ entries: [TraceEntry]) -> [UInt8] {
    var frame = TraceFrame()
    for batch in TraceBatch.of(entries) { frame.append(batch) }
    return frame.bytes
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

  @Test func `a batch gives its entries, and ends where the scope changes`() {
    let longer = Scope(container: "x" + Sample.scope.container, environment: .development)
    let scopes = [
      Sample.scope, longer, Sample.scope,
      Scope(container: Sample.scope.container, environment: .production),
    ]
    let own = (1...3).map { Sample.entry($0) }
    let all = scopes.flatMap { scope in
      own.map { entry in
        guard case .change(var change) = entry.event else { return entry }
        change.scope = scope
        return TraceEntry(at: entry.at, .change(change))
      } + [TraceEntry(at: Sample.start, .lost(2))]
    }
    let batches = TraceBatch.of(all)
    #expect(batches.map(\.count) == [4, 4, 4, 4] && batches[0].first == own[0].at)
    #expect(batches.flatMap(\.entries) == all)
    var frame = TraceFrame()
    for batch in batches { frame.append(batch) }
    var reader = EntryReader(frame.bytes)
    #expect(frame.count == 16 && (try? reader.entries(16)) == all)
  }

  @Test func `a batch ends when it is full`() {
    let all = (1...2_000).map { Sample.entry($0) }
    let batches = TraceBatch.of(all)
    #expect(batches.count > 2 && batches.allSatisfy { $0.size < 8_000 })
    #expect(batches.dropLast().allSatisfy { $0.size >= 7_680 })
    #expect(batches.flatMap(\.entries) == all)
  }

  @Test func `names that repeat are written once`() {
    let one = Self.coded([Sample.entry(1)]).count
    let many = Self.coded((1...100).map { Sample.entry($0) }).count
    #expect(many < one * 60, "\(one) bytes for one, \(many) for a hundred")
  }

  @Test func `the id of a notification is written once for the entries that follow each other`() {
    let sizes = [1, 2].map { number in
      Self.coded([Sample.entry(1), Sample.entry(2, Sample.move(number, .reached))]).count
    }
    #expect(sizes[1] - sizes[0] >= 16)
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
      // Some damaged bytes give other entries, but no damaged bytes may cause a trap.
      _ = try? reader.entries(Self.entries.count)
    }
  }
}
