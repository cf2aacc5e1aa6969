import Testing

@testable import RelayCore

/// The pace of steps: bounded work in a turn, a share of it for each partition, and requests that
/// become visible as a whole.
@Suite struct SteppingTests {
  private func unit(_ partition: Int, _ ordinals: ClosedRange<UInt64>) -> GroupCommit.Durable {
    var need = ForwardNeed()
    need.messages = ordinals.count
    let facts = ordinals.map { ordinal in
      GroupCommit.Placed(
        entry: JournalEntry(
          partition: PartitionID(partition), ordinal: Ordinal(ordinal), at: .zero, fact: .tick),
        origin: .none)
    }
    return GroupCommit.Durable(facts: facts, need: need)
  }

  /// The facts stepped in one turn, each with its partition.
  private func turn(
    _ stepping: inout Stepping, work: (PartitionID) -> Int
  ) -> [(partition: UInt16, ordinal: UInt64)] {
    var steps: [(partition: UInt16, ordinal: UInt64)] = []
    stepping.beginTurn()
    while let next = stepping.next() {
      let entry = next.placed.entry
      steps.append((entry.partition.number, entry.ordinal.number))
      stepping.stepped(work: work(entry.partition))
    }
    return steps
  }

  @Test func `cheap facts are stepped in one turn in journal order`() {
    var stepping = Stepping()
    stepping.add([unit(3, 1...2), unit(5, 1...1), unit(3, 3...3)])
    #expect(stepping.count == 4 && stepping.isReady)
    let steps = turn(&stepping) { _ in 1 }
    #expect(steps.filter { $0.partition == 3 }.map(\.ordinal) == [1, 2, 3])
    #expect(steps.count == 4 && stepping.isEmpty && !stepping.isReady && stepping.torn.isEmpty)
  }

  /// A turn's work exceeds its bound by at most one fact, whatever that fact costs.
  @Test func `a turn ends when its work reaches the bound`() {
    let each = WorkBounds().workPerTurn / 10 + 1
    var stepping = Stepping()
    stepping.add([unit(1, 1...1_000)])
    var steps = 0
    var turns = 0
    while stepping.isReady {
      let count = turn(&stepping) { _ in each }.count
      #expect(count <= 10)
      steps += count
      turns += 1
    }
    #expect(steps == 1_000 && turns == 100)
  }

  /// A request of expensive changes leaves most of a turn to the other partitions.
  @Test func `an expensive partition delays others by at most its share of a turn`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...1_000), unit(2, 1...50)])
    let steps = turn(&stepping) { $0 == PartitionID(1) ? WorkBounds().workPerTurn / 4 / 8 : 64 }
    #expect(steps.filter { $0.partition == 2 }.count == 50)
    #expect(steps.prefix(58).filter { $0.partition == 1 }.count == 8)
    #expect(stepping.torn == [PartitionID(1)])
  }

  @Test func `the last fact of a request frees the room that the request holds`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...3)])
    stepping.beginTurn()
    var freed: [Int?] = []
    while let next = stepping.next() {
      freed.append(next.frees?.messages)
      stepping.stepped(work: 1)
    }
    #expect(freed == [nil, nil, 3])
  }

  /// A partition that a cut left out ends its request, and begins no other before the next cut.
  /// Otherwise requests that follow each other closely would keep the partition out of every cut.
  @Test func `a left-out partition ends its request and waits for the next cut`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...10), unit(1, 11...20)])
    let half = WorkBounds().workPerTurn / 5 + 1
    #expect(turn(&stepping) { _ in half }.count == 5)
    #expect(stepping.torn == [PartitionID(1)])
    // Ten facts wait in requests that are not begun, five in the request that is begun, and five
    // are stepped and in no cut.
    #expect(stepping.cut(without: stepping.torn) == 20)
    #expect(turn(&stepping) { _ in half }.count == 5)
    #expect(stepping.torn.isEmpty && !stepping.isReady && stepping.isAwaitingCut)
    #expect(turn(&stepping) { _ in 1 }.isEmpty)
    #expect(stepping.cut(without: stepping.torn) == 10)
    #expect(turn(&stepping) { _ in 1 }.map(\.ordinal) == Array(11...20))
    #expect(stepping.cut(without: stepping.torn) == 0)
  }

  /// A thousand durable facts may make a million entries, too many for one cut.
  @Test func `while a cut is full, only partly stepped requests go on`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...10), unit(1, 11...20), unit(2, 1...1)])
    let half = WorkBounds().workPerTurn / 4 / 5 + 1
    stepping.beginTurn()
    while let next = stepping.next(), next.placed.entry.ordinal.number <= 5 {
      stepping.stepped(work: half)
    }
    #expect(!stepping.torn.isEmpty)
    stepping.waitForCut()
    let torn = stepping.torn
    #expect(turn(&stepping) { _ in 1 }.allSatisfy { torn.contains(PartitionID(Int($0.partition))) })
    #expect(stepping.torn.isEmpty && !stepping.isReady && stepping.isAwaitingCut)
    #expect(stepping.count >= 10)
    _ = stepping.cut(without: [])
    #expect(turn(&stepping) { _ in 1 }.count >= 10)
    #expect(stepping.isEmpty && !stepping.isAwaitingCut)
  }

  /// A partition may be left out of a cut although none of its requests is stepped in part.
  @Test func `a partition left out between two requests begins no other request`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...10), unit(2, 1...1)])
    #expect(turn(&stepping) { _ in 1 }.count == 11)
    #expect(stepping.cut(without: [PartitionID(1)]) == 10)
    stepping.add([unit(1, 11...11), unit(2, 2...2)])
    #expect(turn(&stepping) { _ in 1 }.map(\.partition) == [2])
    #expect(stepping.isAwaitingCut)
    #expect(stepping.cut(without: []) == 1)
    #expect(turn(&stepping) { _ in 1 }.map(\.ordinal) == [11])
  }

  /// A partition that is left out of a cut between two of its requests loses its turn. Earlier, it
  /// began its next request. A refused fold then gave it a second turn. When no facts were left for
  /// that turn, no partition was stepped any more.
  @Test(arguments: [true, false])
  func `a partition that a cut leaves out loses its turn`(isFoldRefused: Bool) {
    var stepping = Stepping()
    stepping.add([unit(1, 1...1), unit(1, 2...2), unit(2, 1...1)])
    stepping.beginTurn()
    stepping.stepped(work: WorkBounds().workPerTurn)
    #expect(stepping.cut(without: [PartitionID(1)]) == 3)
    var copy = stepping
    #expect(turn(&copy) { _ in 1 }.map(\.partition) == [2])
    #expect(!copy.isReady)
    if isFoldRefused { stepping.foldFailed() } else { #expect(stepping.cut(without: []) == 2) }
    #expect(turn(&stepping) { _ in 1 }.map(\.partition).sorted() == [1, 2])
    #expect(stepping.isEmpty && !stepping.isReady)
    stepping.add([unit(3, 1...1)])
    #expect(turn(&stepping) { _ in 1 }.map(\.partition) == [3])
  }

  /// The work that the partition has done counts for its own turn only.
  @Test func `the partition after one that loses its turn has a whole turn`() {
    var stepping = Stepping(workPerTurn: 1_600)
    stepping.add([unit(1, 1...1), unit(1, 2...2), unit(2, 1...9), unit(3, 1...9)])
    stepping.beginTurn()
    stepping.stepped(work: 399)
    _ = stepping.cut(without: [PartitionID(1)])
    let steps = turn(&stepping) { _ in 100 }
    #expect(steps.prefix(9).map(\.partition) == [2, 2, 2, 2, 3, 3, 3, 3, 2])
  }

  /// Earlier, each stepped request copied all that waited behind it in its partition.
  @Test func `the cost of a request does not grow with the requests behind it`() {
    func time(partitions: Int) -> Duration {
      let times = (0..<3).map { _ in
        var stepping = Stepping()
        stepping.add((0..<20_000).map { unit($0 % partitions, 1...1) })
        return ContinuousClock().measure {
          while stepping.isReady { _ = turn(&stepping) { _ in 1 } }
        }
      }
      return times.min() ?? .zero
    }
    let (one, all) = (time(partitions: 1), time(partitions: PartitionID.count))
    #expect(one < all * 4, "\(one) in one partition, \(all) in all of them")
  }

  /// While the store refuses folds, no partition waits for a cut.
  @Test func `stepping goes on after a failed fold`() {
    var stepping = Stepping()
    stepping.add([unit(1, 1...2), unit(1, 3...3)])
    stepping.beginTurn()
    stepping.stepped(work: 1)
    _ = stepping.cut(without: [PartitionID(1)])
    stepping.stepped(work: 1)
    #expect(!stepping.isReady)
    stepping.foldFailed()
    #expect(turn(&stepping) { _ in 1 }.map(\.ordinal) == [3])
  }
}
