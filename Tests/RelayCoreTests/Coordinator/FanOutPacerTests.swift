import Testing

@testable import RelayCore

/// The pace of wide changes: one slice at a time, and none while a cut is full.
@Suite struct FanOutPacerTests {
  private func slice(_ origin: UInt64) -> Fact {
    .slice(Slice(origin: Ordinal(origin), cursor: .zero))
  }

  @Test func `only one slice is under way at a time`() {
    var pacer = FanOutPacer()
    pacer.add(slice(1), in: PartitionID(3))
    pacer.add(slice(2), in: PartitionID(3))
    #expect(pacer.next(entries: 0)?.slice == slice(1))
    #expect(pacer.next(entries: 0) == nil)
    pacer.stepped()
    #expect(pacer.next(entries: 0)?.slice == slice(2))
    pacer.stepped()
    #expect(pacer.isEmpty && pacer.next(entries: 0) == nil)
  }

  @Test func `slices wait while the next cut is full`() {
    var pacer = FanOutPacer()
    pacer.add(slice(1), in: PartitionID(3))
    #expect(pacer.next(entries: WorkBounds().entriesForSlices) == nil)
    #expect(pacer.next(entries: WorkBounds().entriesForSlices - 1) != nil)
  }

  /// A partition makes up to `rowMax` slices in a row; then the next partition has its turn.
  @Test func `partitions take turns after a row of slices`() {
    var pacer = FanOutPacer()
    for id in [2, 5] { pacer.add(slice(1), in: PartitionID(id)) }
    var turns: [UInt16] = []
    for _ in 0..<(2 * FanOutPacer.rowMax + 1) {
      guard let next = pacer.next(entries: 0) else { break }
      turns.append(next.partition.number)
      pacer.add(slice(1), in: next.partition)
      pacer.stepped()
    }
    let row = [UInt16](repeating: 2, count: FanOutPacer.rowMax)
    let other = [UInt16](repeating: 5, count: FanOutPacer.rowMax)
    #expect(turns == row + other + [2])
  }
}
