/// Slices of wide changes that wait for the journal. One slice is journalled at a time, no faster
/// than folds bring the slices' entries into feeds. So folds stay small, readers wait for a fold
/// only for a short time, changes of other producers are journalled between two slices, and memory
/// holds only a few slices, even for very many users.
///
/// A waiting slice need not be in a journal, because its fan-out is in the tables, from which the
/// next start continues.
struct FanOutPacer: Sendable {
  /// How many slices of one partition follow each other before another partition's turn. The users
  /// of these slices are neighbours in a store's files, so a fold touches few pages.
  static let rowMax = 16

  private let entriesMax: Int
  private var waiting: [PartitionID: [Fact]] = [:]
  /// Whether a slice was handed out and is not stepped yet.
  private(set) var isUnderWay = false
  private var turn = PartitionID(0)
  private var row = 0

  /// - Parameter entriesMax: how many entries may wait for the next cut; with more entries, slices
  ///   wait.
  init(entriesMax: Int = WorkBounds().entriesForSlices) { self.entriesMax = entriesMax }

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ slice: Fact, in partition: PartitionID) {
    waiting[partition, default: []].append(slice)
  }

  /// The slice to journal now, if any.
  ///
  /// - Parameter entries: how many entries wait for the next cut.
  mutating func next(entries: Int) -> (partition: PartitionID, slice: Fact)? {
    guard !isUnderWay, !waiting.isEmpty, entries < entriesMax else { return nil }
    if waiting[turn] == nil || row >= Self.rowMax {
      let others = waiting.keys.sorted()
      turn = others.first { $0 > turn } ?? others[0]
      row = 0
    }
    guard var slices = waiting[turn] else { return nil }
    let slice = slices.removeFirst()
    waiting[turn] = slices.isEmpty ? nil : slices
    row += 1
    isUnderWay = true
    return (turn, slice)
  }

  /// The slice was stepped; further slices of the same change were added before this call.
  mutating func stepped() { isUnderWay = false }
}
