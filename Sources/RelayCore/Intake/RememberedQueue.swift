import DequeModule

/// Remembered ids in the order of the journal. The ids are stored in blocks: a single buffer of
/// millions would be copied whole when it grows, while the loop waits.
struct RememberedQueue: Sendable {
  static let blockSize = 4_096

  private var blocks: Deque<[Remembered]> = []
  /// How many ids of the first block are forgotten.
  private var gone = 0
  private(set) var count = 0

  var first: Remembered? { count == 0 ? nil : blocks[0][gone] }

  /// - Parameter index: 0 is the oldest.
  subscript(index: Int) -> Remembered {
    let place = gone + index
    return blocks[place / Self.blockSize][place % Self.blockSize]
  }

  mutating func append(_ item: Remembered) {
    if (gone + count).isMultiple(of: Self.blockSize) { blocks.append([]) }
    blocks[blocks.count - 1].append(item)
    count += 1
  }

  mutating func removeFirst() {
    precondition(count > 0, "nothing is remembered")
    gone += 1
    count -= 1
    guard gone == Self.blockSize || count == 0 else { return }
    blocks.removeFirst()
    gone = 0
  }
}
