import RelayCore
import RelayEngine
@testable import RelayStore
import Testing

/// Which rows of the journal may be deleted.
@Suite struct JournalTailTests {
  private let partition = PartitionID(3)

  private func tail(rows: Int) -> JournalTail {
    var tail = JournalTail(after: 10)
    for row in 1...rows {
      let mark = JournalRow.Mark(partition: partition, ordinal: Ordinal(UInt64(row)))
      tail.add([mark], seq: 10 + Int64(row))
    }
    return tail
  }

  @Test func `rows are deleted once folded, and at most a limit at once`() {
    var tail = tail(rows: 5)
    #expect(tail.deletable(limit: 9) == nil)
    tail.fold(to: [partition: Ordinal(4)])
    #expect(tail.deletable(limit: 3) == 11...13)
    #expect(tail.deletable(limit: 9) == 11...14)
    tail.first = 14
    #expect(tail.deletable(limit: 3) == 14...14)
    tail.first = 15
    #expect(tail.deletable(limit: 3) == nil)
  }

  /// P11: the memory is bounded by the rows that are not folded yet.
  @Test func `a folded row takes no memory`() {
    var tail = tail(rows: 5)
    tail.fold(to: [partition: Ordinal(4)])
    #expect(tail.rows.map(\.seq) == [15])
    tail.fold(to: [partition: Ordinal(5)])
    #expect(tail.rows.isEmpty)
  }
}
