import DequeModule

/// What waits, by turns of those whom it belongs to: one who has very much does not keep another
/// waiting for longer than a turn. What belongs to one keeps its order.
struct FairQueue<Item: Sendable>: Sendable {
  /// What one turn takes at most, unless its first item alone is larger.
  struct Size: Hashable, Sendable {
    var facts = 256
    var bytes = 256 << 10

    static var none: Size { Size(facts: 0, bytes: 0) }

    func fits(in room: Size) -> Bool { facts <= room.facts && bytes <= room.bytes }

    /// Whether nothing is left of a turn of this size.
    func isWhole(_ turn: Size) -> Bool { facts >= turn.facts || bytes >= turn.bytes }
  }

  private let turn: Size
  /// Of the turn of the first one in `order`.
  private var left: Size
  private var lanes: [Submitter: Deque<(item: Item, size: Size)>] = [:]
  /// Those with something waiting; the first one's turn it is.
  private var order: Deque<Submitter> = []
  /// What each has had since the last cut.
  private var taken: [Submitter: Size] = [:]

  init(turn: Size = Size()) {
    self.turn = turn
    left = turn
  }

  var isEmpty: Bool { order.isEmpty }

  mutating func append(_ item: Item, _ size: Size, of submitter: Submitter) {
    if lanes[submitter] == nil { order.append(submitter) }
    lanes[submitter, default: []].append((item, size))
  }

  /// A cut was taken: each may have a turn again before it counts as one who has had much.
  mutating func cut() { taken = [:] }

  /// The item whose turn it is; it stays there.
  ///
  /// - Parameter isSparing: those who have had a turn since the last cut are passed over.
  mutating func next(isSparing: Bool = false) -> Item? {
    for _ in order.indices {
      guard let submitter = order.first else { return nil }
      if !isSparing || !taken[submitter, default: .none].isWhole(turn) {
        return lanes[submitter]?.first?.item
      }
      pass()
    }
    return nil
  }

  /// Takes the item that `next` told.
  mutating func removeNext() {
    guard let submitter = order.first, let size = lanes[submitter]?.removeFirst().size else {
      return
    }
    taken[submitter, default: .none].facts += size.facts
    taken[submitter, default: .none].bytes += size.bytes
    left.facts -= size.facts
    left.bytes -= size.bytes
    if let following = lanes[submitter]?.first {
      if !following.size.fits(in: left) { pass() }
    } else {
      lanes[submitter] = nil
      order.removeFirst()
      left = turn
    }
  }

  private mutating func pass() {
    order.append(order.removeFirst())
    left = turn
  }

  /// Everything that waits, in the order of turns; nothing waits any more.
  mutating func removeAll() -> [Item] {
    var all: [Item] = []
    while let next = next() {
      all.append(next)
      removeNext()
    }
    return all
  }
}
