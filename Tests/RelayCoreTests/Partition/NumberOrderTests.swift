import RelayCore
import Testing

/// Two senders of one source, any bounded disorder, and restarts in between: the zone's feed ends
/// as if every change had come in order (P2).
@Suite struct NumberOrderTests {
  /// What a reader of the zone's feed holds, and a partition that may crash at any time.
  private struct Senders {
    var rig = PartitionRig()
    var tables: PartitionTables
    var folded = 0
    var records: [String: Entry] = [:]
    var cleared = Position.zero

    init() { tables = PartitionTables(id: PartitionRig().partition.id) }

    mutating func fold() {
      let cut = rig.fold()
      folded = rig.journal.count
      tables.cursor = cut.cursor
      tables.remembered += cut.remembered
      for row in cut.numbers {
        tables.numbers.removeAll { $0.zone == row.zone }
        if !row.numbers.isEmpty { tables.numbers.append(row) }
      }
      guard let feed = cut.feed(.zone(Sample.zone)) else { return }
      if let end = feed.cleared { (cleared, records) = (end, [:]) }
      for item in feed.deltas where item.delta.last.position > cleared {
        guard case .record(let name) = item.subject else { continue }
        records[name] = Fold.fold(records[name], item.delta, subject: item.subject)
      }
    }

    mutating func crash() {
      rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
      var effects: [Effect] = []
      for entry in rig.journal[folded...] {
        rig.partition.step(entry.fact, ordinal: entry.ordinal, at: entry.at, into: &effects)
      }
    }

    var shown: [String: String] {
      records.filter(\.value.life.isPresent).compactMapValues {
        if case .record(_, let tag, _) = $0.detail { tag } else { nil }
      }
    }
  }

  private func event(_ number: Int, ends: Bool, _ draw: inout SeededRandom) -> Change.Event {
    if ends, draw.chance(4) { return .zone(draw.pick([.deleted, .purged, .reset])) }
    return .record(
      RecordChange(
        verb: draw.pick([.created, .updated, .updated, .deleted]),
        name: "r\(draw.below(4))", type: "Article", tag: "\(number)"))
  }

  @Test(arguments: 0..<300)
  func `changes in any order give the same final state as changes in order`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    let (count, spread) = (5 + draw.below(60), 1 + draw.below(20))
    var senders = Senders()
    var expected: [String: String] = [:]
    var arrivals: [(place: Int, number: Int, event: Change.Event)] = []
    for number in 1...count {
      let event = event(number, ends: seed.isMultiple(of: 2), &draw)
      var place = number
      if case .record(let record) = event {
        expected[record.name] = record.verb == .deleted ? nil : record.tag
        place += draw.below(spread)
      } else {
        // No later change overtakes the end of a zone; changes from before the end may come late.
        expected = [:]
      }
      arrivals.append((place, number, event))
    }
    arrivals.sort { ($0.place, $0.number) < ($1.place, $1.number) }
    senders.rig.numbered(0, .zone(.created))
    for arrival in arrivals {
      #expect(senders.rig.numbered(Int64(arrival.number), arrival.event) == .accepted)
      senders.rig.now = senders.rig.now + .seconds(Int64(draw.below(20)))
      if senders.rig.isTickDue(after: 0) { senders.rig.step(.tick) }
      if draw.chance(20) { senders.fold() }
      if draw.chance(10) { senders.crash() }
    }
    senders.fold()
    #expect(senders.shown == expected)
    #expect(senders.rig.isTickDue(after: 60) == false)
    #expect(senders.rig.partition.zonesWithGap == 0)
    let numbers = senders.tables.numbers.first?.numbers
    #expect(numbers?.spaces.first?.settled.isEmpty ?? true)
  }

  @Test func `a relay that restarts during a hole continues to wait for the number`() {
    var senders = Senders()
    senders.rig.numbered(1)
    senders.rig.numbered(3, .record(.deleted, "A"))
    senders.fold()
    senders.rig.numbered(5)
    senders.crash()
    #expect(senders.rig.partition.nextTimer == .s(30))
    #expect(senders.rig.isTickDue(after: 30) == true)
    senders.crash()
    #expect(
      senders.rig.isTickDue(after: 1) == true, "a tick not journalled is asked for again")
    senders.rig.step(.tick)
    senders.fold()
    senders.crash()
    #expect(senders.rig.partition.zonesWithGap == 1)
    senders.rig.numbered(2, .record(.updated, "A"))
    senders.rig.numbered(4)
    #expect(senders.rig.partition.zonesWithGap == 0)
    senders.fold()
    #expect(senders.records["A"]?.life.isPresent == false)
  }
}
