import Testing

@testable import RelayCore

@Suite struct GroupCommitTests {
  private let now = Instant(milliseconds: 1_000)

  private func waiting(
    _ number: Int, _ origin: GroupCommit.Origin = .none
  ) -> GroupCommit.Waiting {
    GroupCommit.Waiting(
      partition: PartitionID(number), fact: .expireTokens(TokenExpiry()), origin: origin)
  }

  private func ticket(_ index: Int) -> GroupCommit.Origin {
    .request(RequestTicket(request: RequestID(1), index: index))
  }

  /// Ordinals rise by one in each partition, in the order the facts came.
  @Test func `facts get consecutive ordinals in their partition`() {
    var commit = GroupCommit(last: [Ordinal](repeating: Ordinal(7), count: PartitionID.count))
    for number in [3, 5, 3] { commit.add(waiting(number)) }
    let entries = commit.next(at: now)
    #expect(entries?.map(\.ordinal) == [Ordinal(8), Ordinal(8), Ordinal(9)])
    #expect(entries?.map(\.partition.number) == [3, 5, 3])
    #expect(commit.committed().count == 3)
    #expect(commit.isIdle)
  }

  /// Only one commit is under way at a time. What comes meanwhile forms the next group.
  @Test func `only one commit is under way at a time`() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    commit.add(waiting(1))
    #expect(commit.next(at: now)?.count == 1)
    commit.add(waiting(1))
    commit.add(waiting(1))
    #expect(commit.next(at: now) == nil)
    _ = commit.committed()
    #expect(commit.next(at: now)?.map(\.ordinal) == [Ordinal(2), Ordinal(3)])
  }

  /// A commit that wrote nothing uses up no ordinals. Requests are refused; the relay's own facts
  /// wait for the next try and keep their order before later ones.
  @Test func `a refused commit uses up no ordinals`() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    commit.add(waiting(1, ticket(0)))
    commit.add(waiting(1))
    _ = commit.next(at: now)
    commit.add(waiting(2, ticket(1)))
    guard case .requests(let refused) = commit.refused(retryAt: now + .seconds(1)) else {
      Issue.record("requests are refused")
      return
    }
    #expect(refused.map(\.index) == [0, 1])
    #expect(commit.next(at: now) == nil)
    #expect(commit.next(at: now + .seconds(1))?.map(\.ordinal) == [Ordinal(1)])
  }

  /// The journal holds a message once, however many targets it has. The message counts once, one
  /// commit holds all its targets, and each target steps the message as a fact of its own.
  @Test func `a message to many targets counts once`() {
    let text = String(repeating: "x", count: 1_000_000)
    var commit = GroupCommit(
      last: [Ordinal](repeating: .zero, count: PartitionID.count),
      bounds: WorkBounds.Commit(facts: 1_000, bytes: 1_100_000))
    commit.add(message: message(text))
    #expect(commit.next(at: now)?.count == PartitionID.count)
    let durable = commit.committed()
    #expect(durable.map { $0.facts.map(\.entry.partition) } == PartitionID.all.map { [$0] })
    #expect(commit.isIdle)
  }

  /// Each further target weighs as much as the smallest fact.
  @Test(arguments: [(spare: 0, group: 65), (-1, 64)])
  func `a message weighs its text once`(spare: Int, group: Int) {
    let message = message(String(repeating: "x", count: 1_000))
    let (text, other) = (message[0].fact.footprint, change(1, bytes: 10))
    let bytes = text + (PartitionID.count - 1) * Fact.tick.footprint + other.fact.footprint
    var commit = commit(bytes: bytes + spare)
    commit.add(message: message)
    commit.add(other)
    #expect(commit.next(at: now)?.count == group)
  }

  /// A message whose targets the store does not take together is committed one target at a time.
  @Test func `a message that is refused for its size is divided by targets`() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    commit.add(message: message("x"))
    #expect(commit.next(at: now)?.count == PartitionID.count)
    guard case .divided = commit.refusedForSize() else {
      Issue.record("its targets are not divided")
      return
    }
    var found: [PartitionID] = []
    while let entries = commit.next(at: now) {
      found += entries.map(\.partition)
      _ = commit.committed()
    }
    #expect(found == PartitionID.all)
  }

  private func message(_ text: String) -> [GroupCommit.Waiting] {
    let key = Interest.Key(
      scope: Sample.scope, database: .public, recordType: "Note")
    let message = Forwarded.Message.interests([Interest(key: key, fields: .named([text]))])
    return PartitionID.all.map { target in
      let forwarded = Forwarded(
        source: PartitionID(3), serial: Position(bits: UInt64(target.number)), message: message)
      return GroupCommit.Waiting(partition: target, fact: .forwarded(forwarded), origin: .none)
    }
  }

  /// Fixed limit: facts of one commit
  @Test(arguments: [(1_023, [1_023]), (1_024, [1_024]), (1_025, [1_024, 1])])
  func `a group holds at most 1,024 facts`(facts: Int, groups: [Int]) {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    for _ in 0..<facts { commit.add(waiting(0)) }
    #expect(commit.next(at: now)?.count == groups[0])
    _ = commit.committed()
    #expect(commit.next(at: now)?.count == groups.dropFirst().first)
  }

  /// A group is bounded. The facts beyond the bound form the next group.
  @Test func `a group holds at most the maximum number of facts`() {
    var commit = commit(bytes: .max, facts: 10)
    for _ in 0..<15 { commit.add(waiting(0)) }
    #expect(commit.next(at: now)?.count == 10)
    _ = commit.committed()
    #expect(commit.next(at: now)?.count == 5)
  }

  /// Earlier, each next group held half as many facts as the refused group, and half may exceed the
  /// bound.
  @Test func `the bound holds after the refusal of a larger group`() {
    var commit = commit(bytes: .max, facts: 4)
    let origin = GroupCommit.Origin.request(RequestTicket(request: RequestID(1), index: 0))
    commit.add((0..<20).map { _ in waiting(0, origin) }, of: .caller(1))
    #expect(commit.next(at: now)?.count == 20)
    _ = commit.refused(retryAt: now)
    for number in 0..<8 { commit.add([waiting(0, origin)], of: .caller(UInt64(number))) }
    #expect(commit.next(at: now)?.count == 4)
  }

  private func change(_ number: UInt64, bytes: Int) -> GroupCommit.Waiting {
    let record = RecordChange(
      verb: .created, name: "A", type: "Note",
      fields: [Field(name: "text", value: .string(String(repeating: "x", count: bytes)))])
    let zone = ZoneID(name: "Notes", owner: UserID("_a"))
    let change = Change(
      scope: Sample.scope, database: .private, zone: zone, event: .record(record),
      time: Sample.start, notification: Sample.nid(number), fingerprint: number)
    return GroupCommit.Waiting(
      partition: PartitionID(1), fact: .change(change),
      origin: .request(RequestTicket(request: RequestID(number), index: 0)))
  }

  private func commit(bytes: Int, facts: Int = 100) -> GroupCommit {
    GroupCommit(
      last: [Ordinal](repeating: .zero, count: PartitionID.count),
      bounds: WorkBounds.Commit(facts: facts, bytes: bytes))
  }

  /// A group is bounded by bytes as well. A fact larger than the bound goes alone.
  @Test func `a group is bounded by bytes`() {
    var commit = commit(bytes: 2 * change(1, bytes: 1_000).fact.footprint)
    for number in UInt64(1)...3 { commit.add(change(number, bytes: 1_000)) }
    commit.add(change(4, bytes: 10_000))
    commit.add(change(5, bytes: 10))
    var groups: [Int] = []
    while let next = commit.next(at: now) {
      groups.append(next.count)
      _ = commit.committed()
    }
    #expect(groups == [2, 1, 1, 1])
  }

  /// One request's facts for one partition become durable together, however many they are.
  @Test func `a request's facts for one partition are never divided`() {
    var commit = commit(bytes: 1_000, facts: 3)
    commit.add([change(1, bytes: 10)], of: .relay)
    commit.add((0..<5).map { _ in change(2, bytes: 900) }, of: .relay)
    commit.add([change(3, bytes: 10)], of: .relay)
    var groups: [Int] = []
    while let next = commit.next(at: now) {
      groups.append(next.count)
      _ = commit.committed()
    }
    #expect(groups == [1, 5, 1])
  }

  /// A group that the store refuses for its size is committed in parts, in its order and with the
  /// same ordinals. No request is refused, and after successes groups grow again.
  @Test func `a group that is refused for its size is tried in halves`() {
    var commit = commit(bytes: 1 << 20)
    for number in UInt64(1)...8 { commit.add(change(number, bytes: 100)) }
    var groups: [Int] = []
    var ordinals: [UInt64] = []
    while let next = commit.next(at: now) {
      if next.count > 3 {
        guard case .divided = commit.refusedForSize() else {
          Issue.record("it is divided")
          return
        }
        continue
      }
      groups.append(next.count)
      ordinals += next.map(\.ordinal.number)
      _ = commit.committed()
    }
    #expect(ordinals == Array(1...8))
    #expect(groups.allSatisfy { $0 <= 3 } && groups.count <= 5)
  }

  /// A request that is too large even alone is reported to its sender and not tried again.
  @Test func `a request that is too large alone is given back`() {
    var commit = commit(bytes: 1 << 20)
    commit.add([change(7, bytes: 100), change(7, bytes: 100)], of: .relay)
    _ = commit.next(at: now)
    guard case .request(let ticket) = commit.refusedForSize() else {
      Issue.record("its request is named")
      return
    }
    #expect(ticket.request == RequestID(7))
    #expect(commit.isIdle && commit.next(at: now) == nil)
  }

  /// A fact of the relay's own that is too large even alone goes back to the coordinator, which
  /// decides.
  @Test func `a fact of the relay that is too large alone is given back`() {
    var commit = commit(bytes: 1 << 20)
    commit.add(waiting(1))
    commit.add(waiting(2))
    _ = commit.next(at: now)
    _ = commit.refusedForSize()
    _ = commit.next(at: now)
    guard case .own(let fact) = commit.refusedForSize() else {
      Issue.record("the fact is given back")
      return
    }
    #expect(fact.partition == PartitionID(1))
    commit.putBack(fact)
    #expect(commit.next(at: now)?.map(\.partition.number) == [1])
  }

  /// On a full store the relay's own facts are tried again in a smaller group, which may still fit.
  @Test func `the next try on a full store is smaller`() {
    var commit = commit(bytes: 1 << 20)
    for number in 0..<8 { commit.add(waiting(number)) }
    #expect(commit.next(at: now)?.count == 8)
    _ = commit.refused(retryAt: now)
    #expect(commit.next(at: now)?.count == 4)
    _ = commit.committed()
    #expect(commit.next(at: now)?.count == 4)
  }

  @Test func `the bound of facts doubles with each commit after a refusal`() {
    var commit = commit(bytes: 1 << 20, facts: 8)
    for number in 0..<24 { commit.add(waiting(number)) }
    #expect(commit.next(at: now)?.count == 8)
    _ = commit.refused(retryAt: now)
    var groups: [Int] = []
    while let next = commit.next(at: now) {
      groups.append(next.count)
      _ = commit.committed()
    }
    #expect(groups == [4, 8, 8, 4])
  }
}
