/// Slices of wide changes on their way into the journal: one at a time, and no faster than folds
/// bring them into feeds. So a fold stays small, a reader who waits for it waits shortly, other
/// producers' changes come in between, and memory holds a few slices, however many users there are.
///
/// A slice that waits here is in no journal and need not be: its fan-out is in the tables, and the
/// next life goes on from there.
struct FanOutPacer: Sendable {
  /// One partition's slices in a row before another's: neighbours in a store's files, so that a
  /// fold touches few pages of them.
  static let rowMax = 16

  private let entriesMax: Int
  private var waiting: [PartitionID: [Fact]] = [:]
  /// A slice was handed out and is not stepped yet.
  private(set) var isUnderWay = false
  private var turn = PartitionID(0)
  private var row = 0

  /// - Parameter entriesMax: entries that wait for the next cut; with more, slices wait.
  init(entriesMax: Int = WorkBounds().entriesForSlices) { self.entriesMax = entriesMax }

  var isEmpty: Bool { waiting.isEmpty }

  mutating func add(_ slice: Fact, in partition: PartitionID) {
    waiting[partition, default: []].append(slice)
  }

  /// The slice to journal now, if any.
  ///
  /// - Parameter entries: how many wait for the next cut.
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

  /// It was stepped; what follows of the same change has been added.
  mutating func stepped() { isUnderWay = false }
}
