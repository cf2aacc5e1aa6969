import Testing

@testable import RelayCore

/// The relay drops repeats of an id until the id is too old, or until too many newer ids have
/// come.
@Suite struct DedupWindowTests {
  private func item(_ ordinal: UInt64, _ seconds: Double, _ fingerprint: UInt64) -> Remembered {
    Remembered(ordinal: Ordinal(ordinal), at: .s(seconds), fingerprint: fingerprint)
  }

  @Test func `a repeat is recognized until its id is too old`() {
    var memory = DedupWindow()
    let limits = Limits()
    var isNew = [memory.remember(item(1, 0, 42)), memory.remember(item(2, 5, 42))]
    var evicted = memory.forget(at: .s(86_399), limits: limits)
    #expect(evicted == nil)
    isNew.append(memory.remember(item(3, 86_399, 42)))
    evicted = memory.forget(at: .s(86_400), limits: limits)
    #expect(evicted == Ordinal(1))
    isNew.append(memory.remember(item(4, 86_400, 42)))
    #expect(isNew == [true, false, false, true])
    #expect(memory.count == 1)
  }

  /// Limit: limits.rememberedFor
  @Test(arguments: [(spare: Int64(-1), isKnown: true), (0, false), (1, false)])
  func `an id is forgotten after one day even if no other change comes`(spare: Int64, isKnown: Bool)
  {
    var world = MemoryOfAll(ids: 100)
    #expect(world.change(1, of: world.hot) == .accepted)
    world.now = world.now + .seconds(3_600)
    #expect(world.change(1, of: world.hot) == .duplicate, "a repeat is no news of the id")
    world.now = world.now + .hours(23) + Span(milliseconds: spare)
    #expect(world.change(1, of: world.hot) == (isKnown ? .duplicate : .accepted))
  }

  /// Earlier, one hot zone forgot ids after a 64th of the documented number.
  ///
  /// Limit: limits.rememberedIDs
  @Test(arguments: [(count: 127, isKnown: true), (128, true), (129, false)])
  func `one zone may use the memory of all partitions`(count: UInt64, isKnown: Bool) {
    var world = MemoryOfAll(ids: 128)
    for id in 1...count { #expect(world.change(id, of: world.hot) == .accepted) }
    #expect(world.relay.census(at: world.now).remembered == min(128, Int(count)))
    #expect(world.change(1, of: world.hot) == (isKnown ? .duplicate : .accepted))
  }

  /// The oldest ids are forgotten first, whichever partitions hold them.
  @Test func `the oldest ids of all partitions are forgotten first`() {
    var world = MemoryOfAll(ids: 10)
    let others = (1...30).map { UserID("_other\($0)") }
    for (index, user) in others.enumerated() {
      world.now = world.now + .seconds(1)
      world.change(UInt64(index + 1), of: user)
    }
    let census = world.relay.census(at: world.now)
    #expect(census.remembered == 10)
    #expect(census.oldestRemembered == world.now - .seconds(9))
    for (index, user) in others.enumerated().reversed().prefix(10) {
      #expect(world.change(UInt64(index + 1), of: user) == .duplicate)
    }
    #expect(world.change(1, of: others[0]) == .accepted)
  }

  @Test func `a partition without new changes forgets its ids too`() {
    var world = MemoryOfAll(ids: 100)
    for id in 1...20 as ClosedRange<UInt64> { world.change(id, of: world.hot) }
    world.now = world.now + .hours(24)
    world.wake()
    #expect(world.relay.census(at: world.now).remembered == 20)
    world.now = world.now + .hours(1)
    world.wake()
    #expect(world.relay.census(at: world.now).remembered == 0)
    #expect(world.journal.count == 21)
  }

  /// P11: the rows of forgotten ids are removed too, whether the ids were too old or too many.
  @Test func `forgotten ids are removed from the tables`() {
    var rig = PartitionRig()
    for _ in 1...3 { rig.change(.record(.updated)) }
    #expect(rig.fold().forgotten == .zero)
    rig.step(.forget(through: Ordinal(2)))
    #expect(rig.fold().forgotten == Ordinal(2))
    rig.now = rig.now + .hours(24)
    rig.change(.record(.updated))
    let cut = rig.fold()
    #expect(cut.forgotten == Ordinal(3) && cut.remembered.map(\.ordinal) == [Ordinal(5)])
    #expect(rig.fold().forgotten == .zero, "said once")
  }

  /// Earlier, the first change after a quiet day removed in one step all ids that were too old.
  @Test func `ids that are too old are removed in bounded steps`() {
    var memory = DedupWindow()
    for id in 1...10_000 as ClosedRange<UInt64> { _ = memory.remember(item(id, 0, id)) }
    var left: [Int] = []
    for _ in 0..<4 {
      _ = memory.forget(at: .s(2 * 86_400), limits: Limits())
      left.append(memory.count)
    }
    #expect(left == [5_904, 1_808, 0, 0])
  }

  @Test func `one round forgets a bounded number of ids`() {
    var world = MemoryOfAll(ids: 10_000)
    for id in 1...5_000 as ClosedRange<UInt64> { world.change(id, of: world.hot) }
    world.now = world.now + .hours(25)
    var left: [Int] = []
    for _ in 0..<3 {
      world.wake()
      left.append(world.relay.census(at: world.now).remembered)
    }
    #expect(left == [904, 0, 0])
  }

  /// Producers repeat ids that the relay is about to forget, or has just forgotten. A replay, from
  /// the start or from a fold, answers each repeat as the relay did before. So the replay drops no
  /// accepted change and accepts no dropped change.
  @Test(arguments: 1...8 as ClosedRange<UInt64>)
  func `a replay forgets each id at the same point`(seed: UInt64) {
    var draw = SeededRandom(seed: seed)
    var world = MemoryOfAll(ids: 24)
    let users = (1...5).map { UserID("_u\($0)") }
    var ids: UInt64 = 1
    var tables: [PartitionTables] = []
    for turn in 0..<400 {
      world.now = world.now + .seconds(Int64(draw.below(600)))
      if draw.chance(60) { ids += 1 }
      let id = max(1, ids - UInt64(draw.below(Int(min(ids, 40)))))
      world.change(id, of: users[Int(id) % users.count])
      if turn == 150 { tables = world.tables() }
    }
    let held = world.relay.census(at: world.now).remembered
    for start in [[], tables] {
      var again = MemoryOfAll(ids: 24, tables: start)
      let cursors = Dictionary(uniqueKeysWithValues: start.map { ($0.id, $0.cursor) })
      for id in PartitionID.all {
        for step in world.journal
        where step.partition == id && step.ordinal > cursors[id] ?? .zero {
          #expect(again.replay(step) == step.answer)
        }
      }
      let remembered = again.relay.census(at: world.now).remembered
      #expect(remembered == held)
    }
  }
}

/// A relay whose own facts are journalled and stepped at once.
private struct MemoryOfAll: ~Copyable {
  struct Step {
    var partition: PartitionID
    var ordinal: Ordinal
    var at: Instant
    var fact: Fact
    var answer: Answer
  }

  var relay: Relay
  var now = Sample.start
  var journal: [Step] = []
  let hot = UserID("_hot")
  private var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)

  init(ids: Int, tables: [PartitionTables] = []) {
    var limits = Limits()
    limits.rememberedIDs = ids
    relay = Relay(tables, limits: limits, policy: WakePolicy())
    _ = relay.recovered()
  }

  @discardableResult
  mutating func change(_ id: UInt64, of user: UserID) -> Answer {
    let change = Change(
      scope: Sample.scope, database: .private, zone: ZoneID(name: "z", owner: user),
      event: .record(.updated, "r\(id)"), author: nil, time: now, notification: Sample.nid(id),
      fingerprint: id)
    let answer = step(.change(change), in: change.home)
    wake()
    return answer
  }

  mutating func wake() {
    var effects: [Effect] = []
    relay.wake(at: now, into: &effects)
    for case .journal(let partition, let fact) in effects { _ = step(fact, in: partition) }
  }

  private mutating func step(_ fact: Fact, in partition: PartitionID) -> Answer {
    let ordinal = ordinals[Int(partition.number)].next
    ordinals[Int(partition.number)] = ordinal
    var step = Step(partition: partition, ordinal: ordinal, at: now, fact: fact, answer: .done)
    step.answer = replay(step)
    journal.append(step)
    return step.answer
  }

  mutating func replay(_ step: Step) -> Answer {
    var effects: [Effect] = []
    relay.step(
      step.fact, in: step.partition, ordinal: step.ordinal, at: step.at, into: &effects)
    guard case .answer(_, _, let answer, _)? = effects.last else { return .done }
    return answer
  }

  /// The tables after a fold of everything.
  mutating func tables() -> [PartitionTables] {
    _ = relay.cut(at: now)
    return PartitionID.all.map { id in
      var tables = PartitionTables(id: id, cursor: ordinals[Int(id.number)])
      let memory = relay.partition(id).ids
      tables.remembered = (0..<memory.count).compactMap { memory[$0] }
      return tables
    }
  }
}
