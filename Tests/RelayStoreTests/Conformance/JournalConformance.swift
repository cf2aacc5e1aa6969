import RelayCore
import RelayEngine
import RelayStore
import Testing

/// The journal contains every acknowledged entry, in order (P1).
@Suite struct JournalConformance {
  @Test(arguments: StoreKind.allCases)
  func `entries are read back in order, from any ordinal, in parts of any size`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    var draw = SeededRandom(seed: 1)
    var written: [PartitionID: [JournalEntry]] = [:]
    let partitions = [PartitionID(0), PartitionID(7), PartitionID(63)]
    for _ in 0..<30 {
      let group = (0..<draw.number(1..<9)).map { _ in
        bench.entry(draw.fact(), in: draw.pick(partitions))
      }
      try await bench.store.append(group, leases: bench.leases)
      for entry in group { written[entry.partition, default: []].append(entry) }
    }
    for partition in partitions {
      let all = written[partition] ?? []
      for limit in [1, 3, 1_000] {
        var read: [JournalEntry] = []
        while true {
          let after = read.last?.ordinal ?? .zero
          let part = try await bench.store.journal(partition, after: after, limit: limit)
          if part.isEmpty { break }
          #expect(part.count <= limit)
          read += part
        }
        #expect(read == all)
      }
      let middle = all[all.count / 2].ordinal
      let rest = try await bench.store.journal(partition, after: middle, limit: 1_000)
      #expect(rest == Array(all[(all.count / 2 + 1)...]))
    }
  }

  /// A start reads each entry that is not folded into the tables once, in parts of any size.
  @Test(arguments: StoreKind.allCases)
  func `all partitions' entries are read in one pass`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    var draw = SeededRandom(seed: 3)
    var written: [PartitionID: [JournalEntry]] = [:]
    for _ in 0..<20 {
      let group = (0..<12).map { bench.entry(draw.fact(), in: PartitionID($0 * 5)) }
      try await bench.store.append(group, leases: bench.leases)
      for entry in group { written[entry.partition, default: []].append(entry) }
    }
    var cursors: [PartitionID: Ordinal] = [:]
    for id in PartitionID.all { cursors[id] = .zero }
    let known = PartitionID(5)
    cursors[known] = written[known]?[7].ordinal
    written[known]?.removeFirst(8)
    for limit in [1, 50, 10_000] {
      var read: [PartitionID: [JournalEntry]] = [:]
      var place: JournalPlace?
      var parts = 0
      repeat {
        let part = try await bench.store.journal(after: place, beyond: cursors, limit: limit)
        for entry in part.entries { read[entry.partition, default: []].append(entry) }
        place = part.next
        parts += 1
      } while place != nil
      #expect(read == written)
      if limit == 10_000 { #expect(parts == 1) }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a concurrent reader sees the entries in order and without a gap`(kind: StoreKind)
    async throws
  {
    let bench = try await Bench.fresh(kind)
    let home = bench.home
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var writer = bench
        for _ in 0..<150 {
          let entries = (0..<3).map { _ in
            writer.entry(.lostHistory(writer.feed, since: .zero), in: home)
          }
          try await writer.store.append(entries, leases: writer.leases)
        }
      }
      group.addTask {
        var seen = Ordinal.zero
        while seen < Ordinal(450) {
          for entry in try await bench.store.journal(home, after: seen, limit: 50) {
            #expect(entry.ordinal == seen.next)
            seen = entry.ordinal
          }
          await Task.yield()
        }
      }
      try await group.waitForAll()
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the store refuses writes and loads with a lease of an earlier epoch`(kind: StoreKind)
    async throws
  {
    var bench = try await Bench.fresh(kind)
    let position = try await bench.mutate(bench.privates, .zone(bench.zone()), .created)
    let newer = try await bench.store.claim(eras: [bench.home: 999])
    #expect(newer.map(\.epoch) == [bench.lease(of: bench.home).epoch + 1])
    #expect(newer.map(\.era.first) == [position.ordinal.next])

    let entry = bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home)
    await refused { try await bench.store.append([entry], leases: bench.leases) }
    let cut = bench.cut { $0.heard = [Heard(source: PartitionID(1), serial: Position(bits: 5))] }
    await refused { _ = try await bench.store.fold(cut, leases: bench.leases) }
    await refused { _ = try await bench.store.load(bench.lease(of: bench.home)) }
    await refused {
      _ = try await bench.store.trim(
        tombstones: .never, notifications: .never, feedback: .zero, limit: 9, leases: bench.leases)
    }
    #expect(try await bench.store.journal(bench.home, after: .zero, limit: 9).isEmpty)
    let tables = try await bench.store.load(newer[0])
    #expect(tables.heard.isEmpty)
    #expect(tables.cursor == position.ordinal)
    try await bench.store.append([entry], leases: newer)
  }

  @Test(arguments: StoreKind.allCases)
  func `entries of a partition without a lease are refused`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let entry = bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home)
    await refused { try await bench.store.append([entry], leases: []) }
  }

  @Test(arguments: StoreKind.allCases)
  func `an era begins after the last ordinal that the journal ever held`(
    kind: StoreKind
  ) async throws {
    let home = try kind.home()
    var bench = try await Bench(home)
    for _ in 0..<5 {
      let entry = bench.entry(.lostHistory(bench.feed, since: .zero), in: bench.home)
      try await bench.store.append([entry], leases: bench.leases)
    }
    var again = try await bench.store.claim(eras: [bench.home: 7])
    #expect(again[0].era == Era(id: 7, first: Ordinal(6)))
    // The fold removes the entries. Their ordinals are still never given again.
    _ = try await bench.store.fold(bench.cut { _ in }, leases: again)
    await bench.store.close()
    let copy = try home.crashed()
    let reopened = try copy.open()
    again = try await reopened.claim(eras: [bench.home: 8])
    #expect(again[0].era == Era(id: 8, first: Ordinal(6)))
    #expect(try await reopened.load(again[0]).time == bench.at)
    await reopened.close()
    withExtendedLifetime(copy) {}
  }

  /// The relay's clock continues from the newest time of the partitions that it owns. So a fold
  /// keeps the time with each partition that the fold writes, and an empty fold keeps it with all
  /// partitions.
  @Test(arguments: StoreKind.allCases)
  func `the time is kept with the partitions that a fold writes`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    let rest = bench.leases.first { $0.partition != bench.home }!
    _ = bench.next()
    let written = bench.at
    _ = try await bench.store.fold(bench.cut { _ in }, leases: bench.leases)
    #expect(try await bench.store.load(bench.lease(of: bench.home)).time == written)
    #expect(try await bench.store.load(rest).time == .zero)
    let later = written + .minutes(10)
    for at in [later, written] {
      _ = try await bench.store.fold(Cut(at: at, partitions: []), leases: bench.leases)
      #expect(try await bench.store.load(bench.lease(of: bench.home)).time == later)
      #expect(try await bench.store.load(rest).time == later)
    }
    var last = Cut(at: later + .minutes(1), partitions: [])
    last.isLast = true
    _ = try await bench.store.fold(last, leases: bench.leases)
    #expect(try await bench.store.load(rest).time == last.at)
    await bench.store.close()
  }

  private func refused(_ body: () async throws -> Void) async {
    do {
      try await body()
      Issue.record("it was not refused")
    } catch {
      #expect((error as? StoreError)?.code == .stale)
    }
  }
}

extension Bench {
  mutating func entry(_ fact: Fact, in partition: PartitionID) -> JournalEntry {
    JournalEntry(partition: partition, ordinal: next(partition), at: at, fact: fact)
  }
}
