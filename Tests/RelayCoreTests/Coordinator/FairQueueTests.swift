import Testing

@testable import RelayCore

/// A caller that submits very much keeps no other caller waiting for longer than a turn.
@Suite struct FairQueueTests {
  private let now = Instant(milliseconds: 1_000)

  private func fact(_ number: Int) -> GroupCommit.Waiting {
    GroupCommit.Waiting(
      partition: PartitionID(number), fact: .expireTokens(TokenExpiry()), origin: .none)
  }

  /// Earlier, all thousand facts of the first caller went before the other caller's fact.
  @Test func `a caller's fact does not wait for the many facts of another caller`() {
    var commit = GroupCommit(
      last: [Ordinal](repeating: .zero, count: PartitionID.count),
      bounds: WorkBounds.Commit(facts: 300, bytes: .max))
    for _ in 0..<1_000 { commit.add([fact(1)], of: .caller(1)) }
    commit.add([fact(2)], of: .caller(2))
    let entries = commit.next(at: now) ?? []
    #expect(entries.count == 300)
    #expect(entries.contains { $0.partition.number == 2 })
  }

  @Test func `the submissions of one caller keep their order`() {
    var turns = FairQueue<Int>(turn: .init(facts: 2, bytes: .max))
    let one = FairQueue<Int>.Size(facts: 1, bytes: 1)
    for number in 0..<5 { turns.append(number, one, of: .caller(1)) }
    for number in 10..<13 { turns.append(number, one, of: .caller(2)) }
    turns.append(20, one, of: .relay)
    #expect(turns.removeAll() == [0, 1, 10, 11, 20, 2, 3, 12, 4])
    #expect(turns.isEmpty && turns.next() == nil)
  }

  @Test func `a turn ends before an item that is too large, which then goes alone`() {
    var turns = FairQueue<String>(turn: .init(facts: 100, bytes: 10))
    turns.append("small", .init(facts: 1, bytes: 1), of: .caller(1))
    turns.append("large", .init(facts: 1, bytes: 50), of: .caller(1))
    turns.append("last", .init(facts: 1, bytes: 1), of: .caller(1))
    turns.append("other", .init(facts: 1, bytes: 1), of: .caller(2))
    #expect(turns.removeAll() == ["small", "other", "large", "last"])
  }

  /// Earlier, a large cut went on growing, and readers of its fold waited for seconds.
  @Test func `a caller that had a turn waits for the next cut if this cut is large`() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    for _ in 0..<1_000 { commit.add([fact(1)], of: .caller(1)) }
    #expect(commit.next(at: now)?.count == 1_000)
    _ = commit.committed()
    for _ in 0..<1_000 { commit.add([fact(1)], of: .caller(1)) }
    #expect(commit.next(at: now, room: 0) == nil)
    commit.add([fact(2)], of: .caller(2))
    #expect(commit.next(at: now, room: 0)?.map(\.partition.number) == [2])
    _ = commit.committed()
    commit.cut()
    #expect(commit.next(at: now, room: 0)?.isEmpty == false)
  }

  /// Earlier, two requests of a thousand zones went into one commit before either was stepped, and
  /// so into one cut.
  @Test func `the facts of a commit count against the room in the cut`() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    let request = [GroupCommit.Waiting](repeating: fact(1), count: 900)
    for _ in 0..<2 { commit.add(request, of: .caller(1)) }
    commit.add([fact(2)], of: .caller(2))
    #expect(commit.next(at: now, room: 901)?.count == 901, "the other caller has its turn")
    _ = commit.committed()
    #expect(commit.next(at: now, room: 0) == nil)
    commit.cut()
    #expect(commit.next(at: now, room: 901)?.count == 900)
  }

  /// Messages from an earlier life are committed before any new change, however many messages there
  /// are.
  @Test func `facts that are put first are committed first`() {
    var commit = GroupCommit(
      last: [Ordinal](repeating: .zero, count: PartitionID.count),
      bounds: WorkBounds.Commit(facts: 300, bytes: .max))
    for _ in 0..<600 { commit.add(fact(1)) }
    commit.putFirst()
    commit.add([fact(2)], of: .caller(1))
    var found: [Int] = []
    while let entries = commit.next(at: now) {
      found += entries.map { Int($0.partition.number) }
      _ = commit.committed()
    }
    #expect(found == [Int](repeating: 1, count: 600) + [2])
  }
}
