import RelayCore
import Testing

@testable import RelayEngine

@Suite struct GroupCommitTests {
  private let now = Instant(milliseconds: 1_000)

  private func waiting(
    _ number: Int, _ origin: GroupCommit.Origin = .none
  ) -> GroupCommit.Waiting {
    GroupCommit.Waiting(
      partition: PartitionID(number), fact: .expireTokens(TokenExpiry()), origin: origin)
  }

  private func ticket(_ index: Int) -> GroupCommit.Origin {
    .submission(Settling.Ticket(submission: 1, index: index))
  }

  /// Ordinals rise by one in each partition, in the order the facts came.
  @Test func factsGetConsecutiveOrdinals() {
    var commit = GroupCommit(last: [Ordinal](repeating: Ordinal(7), count: PartitionID.count))
    for number in [3, 5, 3] { commit.add(waiting(number)) }
    let entries = commit.next(at: now)
    #expect(entries?.map(\.ordinal) == [Ordinal(8), Ordinal(8), Ordinal(9)])
    #expect(entries?.map(\.partition.number) == [3, 5, 3])
    #expect(commit.committed().count == 3)
    #expect(commit.isIdle)
  }

  /// While one commit is under way nothing else goes; what comes meanwhile is the next group.
  @Test func oneCommitIsUnderWayAtATime() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    commit.add(waiting(1))
    #expect(commit.next(at: now)?.count == 1)
    commit.add(waiting(1))
    commit.add(waiting(1))
    #expect(commit.next(at: now) == nil)
    _ = commit.committed()
    #expect(commit.next(at: now)?.map(\.ordinal) == [Ordinal(2), Ordinal(3)])
  }

  /// A commit that wrote nothing uses up no ordinals; whoever asked is refused, our own facts wait
  /// for the next try and keep their order before later ones.
  @Test func aRefusedCommitGivesItsOrdinalsBack() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    commit.add(waiting(1, ticket(0)))
    commit.add(waiting(1))
    _ = commit.next(at: now)
    commit.add(waiting(2, ticket(1)))
    let refused = commit.refused(retryAt: now + .seconds(1))
    #expect(refused.map(\.index) == [0, 1])
    #expect(commit.next(at: now) == nil)
    #expect(commit.next(at: now + .seconds(1))?.map(\.ordinal) == [Ordinal(1)])
  }

  /// A group is bounded; the rest is the next one.
  @Test func aGroupIsBounded() {
    var commit = GroupCommit(last: [Ordinal](repeating: .zero, count: PartitionID.count))
    for _ in 0..<(GroupCommit.factsMax + 5) { commit.add(waiting(0)) }
    #expect(commit.next(at: now)?.count == GroupCommit.factsMax)
    _ = commit.committed()
    #expect(commit.next(at: now)?.count == 5)
  }
}
