import RelayCore
import RelayEngine

/// What the relay remembers of the journal, so that it need not read the file again: each row's
/// last ordinals, which rows may be deleted, and each partition's last ordinal. The size of this
/// value is bounded by the rows that are not yet folded.
struct JournalTail {
  struct Row {
    var seq: Int64
    /// The last ordinal of each partition in the row.
    var lasts: [JournalRow.Mark]
  }

  /// All rows from the first one that is not wholly folded, oldest first.
  private(set) var rows: [Row] = []
  /// Last ordinals, by partition; zero if the journal holds no entry of the partition.
  private(set) var lasts = [Ordinal](repeating: .zero, count: PartitionID.count)
  private(set) var cursors = [Ordinal](repeating: .zero, count: PartitionID.count)
  /// The number of the oldest row that is not deleted.
  var first: Int64
  private(set) var next: Int64

  /// Begins after row `deleted`, the last deleted row, so that no row number is used twice.
  init(after deleted: Int64 = 0) {
    first = deleted + 1
    next = first
  }

  /// The number of the last row, deleted or not; 0 before the first row.
  var last: Int64 { next - 1 }

  mutating func add(_ marks: [JournalRow.Mark], seq: Int64) {
    var row = Row(seq: seq, lasts: [])
    for mark in marks {
      lasts[Int(mark.partition.number)] = max(lasts[Int(mark.partition.number)], mark.ordinal)
      if let index = row.lasts.firstIndex(where: { $0.partition == mark.partition }) {
        row.lasts[index].ordinal = mark.ordinal
      } else {
        row.lasts.append(mark)
      }
    }
    rows.append(row)
    next = max(next, seq + 1)
  }

  /// Notes that the cursors are durable in the tables.
  mutating func fold(to cursors: [PartitionID: Ordinal]) {
    for (partition, cursor) in cursors {
      self.cursors[Int(partition.number)] = max(self.cursors[Int(partition.number)], cursor)
    }
    let done = rows.prefix { row in
      row.lasts.allSatisfy { $0.ordinal <= self.cursors[Int($0.partition.number)] }
    }
    rows.removeFirst(done.count)
  }

  /// The rows to delete now, at most `limit`; nil if there are none.
  func deletable(limit: Int) -> ClosedRange<Int64>? {
    let foldedThrough = (rows.first?.seq ?? next) - 1
    guard first <= foldedThrough else { return nil }
    return first...min(foldedThrough, first + Int64(limit) - 1)
  }
}
