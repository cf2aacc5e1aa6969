import Testing

@testable import RelayCore

/// While readers wait, every second cut leaves out the partitions that have much to fold.
@Suite struct CutTurnsTests {
  @Test func `a large partition is left out of one cut, but never of two in a row`() {
    var turns = CutTurns()
    let (a, b) = (PartitionID(1), PartitionID(2))
    #expect(turns.next(large: [a], torn: []) { _ in true } == [a])
    #expect(turns.next(large: [a, b], torn: []) { _ in true } == [b])
    #expect(turns.next(large: [a, b], torn: []) { _ in true } == [a])
    #expect(turns.next(large: [], torn: []) { _ in true } == [])
    #expect(turns.next(large: [a], torn: []) { _ in true } == [a])
  }

  @Test func `no partition is left out of a cut that would be empty without it`() {
    var turns = CutTurns()
    #expect(turns.next(large: [PartitionID(1)], torn: []) { $0 != [PartitionID(1)] } == [])
    #expect(turns.next(large: [PartitionID(1)], torn: []) { _ in true } == [PartitionID(1)])
  }

  @Test func `a partition that was torn is in the next cut`() {
    var turns = CutTurns()
    let (a, b) = (PartitionID(1), PartitionID(2))
    #expect(turns.next(large: [a, b], torn: [a]) { _ in true } == [a, b])
    #expect(turns.next(large: [a, b], torn: []) { _ in true } == [])
    #expect(turns.next(large: [a], torn: [b]) { $0 != [a, b] } == [b])
    #expect(turns.next(large: [a], torn: [b]) { _ in true } == [a, b], "torn again: no choice")
  }
}
