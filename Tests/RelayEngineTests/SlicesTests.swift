import RelayCore
import Testing

@testable import RelayEngine

/// The pace of wide changes: one slice at a time, and none while a cut is full.
@Suite struct SlicesTests {
  private func slice(_ origin: UInt64) -> Fact {
    .slice(Slice(origin: Ordinal(origin), cursor: .zero))
  }

  @Test func oneIsUnderWayAtATime() {
    var slices = Slices()
    slices.add(slice(1), in: PartitionID(3))
    slices.add(slice(2), in: PartitionID(3))
    #expect(slices.next(entries: 0)?.slice == slice(1))
    #expect(slices.next(entries: 0) == nil)
    slices.stepped()
    #expect(slices.next(entries: 0)?.slice == slice(2))
    slices.stepped()
    #expect(slices.isEmpty && slices.next(entries: 0) == nil)
  }

  @Test func theyWaitWhileTheNextCutIsFull() {
    var slices = Slices()
    slices.add(slice(1), in: PartitionID(3))
    #expect(slices.next(entries: Slices.entriesMax) == nil)
    #expect(slices.next(entries: Slices.entriesMax - 1) != nil)
  }

  /// A partition goes on with its neighbours, but not for ever.
  @Test func partitionsTakeTurnsAfterARow() {
    var slices = Slices()
    for id in [2, 5] { slices.add(slice(1), in: PartitionID(id)) }
    var turns: [UInt8] = []
    for _ in 0..<(2 * Slices.rowMax + 1) {
      guard let next = slices.next(entries: 0) else { break }
      turns.append(next.partition.number)
      slices.add(slice(1), in: next.partition)
      slices.stepped()
    }
    let row = [UInt8](repeating: 2, count: Slices.rowMax)
    let other = [UInt8](repeating: 5, count: Slices.rowMax)
    #expect(turns == row + other + [2])
  }
}
