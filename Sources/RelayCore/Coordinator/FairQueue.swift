import DequeModule

/// A queue in which submitters take turns: a submitter with many items delays another submitter by
/// at most one turn. Each submitter's items keep their order.
struct FairQueue<Item: Sendable>: Sendable {
  /// A number of facts and bytes. The defaults are the most that one turn takes, unless its first
  /// item alone is larger.
  struct Size: Hashable, Sendable {
    var facts = 256
    var bytes = 256 << 10

    static var none: Size { Size(facts: 0, bytes: 0) }

    func fits(in room: Size) -> Bool { facts <= room.facts && bytes <= room.bytes }

    /// Whether this size uses up a turn of size `turn`.
    func isWhole(_ turn: Size) -> Bool { facts >= turn.facts || bytes >= turn.bytes }
  }

  private let turn: Size
  /// What is left of the first submitter's turn.
  private var left: Size
  private var queues: [Submitter: Deque<(item: Item, size: Size)>] = [:]
  /// Submitters with waiting items; the first one has its turn.
  private var order: Deque<Submitter> = []
  /// The size of the items that were taken from each submitter since the last cut.
  private var taken: [Submitter: Size] = [:]

  init(turn: Size = Size()) {
    self.turn = turn
    left = turn
  }

  var isEmpty: Bool { order.isEmpty }

  mutating func append(_ item: Item, _ size: Size, of submitter: Submitter) {
    if queues[submitter] == nil { order.append(submitter) }
    queues[submitter, default: []].append((item, size))
  }

  /// A cut was taken: every submitter may have a turn again.
  mutating func cut() { taken = [:] }

  /// The next item of the submitter that has its turn. The item stays in the queue.
  ///
  /// - Parameter isSparing: whether submitters that have had a turn since the last cut are skipped.
  mutating func next(isSparing: Bool = false) -> Item? {
    for _ in order.indices {
      guard let submitter = order.first else { return nil }
      if !isSparing || !taken[submitter, default: .none].isWhole(turn) {
        return queues[submitter]?.first?.item
      }
      pass()
    }
    return nil
  }

  /// Removes the item that `next` returned.
  mutating func removeNext() {
    guard let submitter = order.first, let size = queues[submitter]?.removeFirst().size else {
      return
    }
    taken[submitter, default: .none].facts += size.facts
    taken[submitter, default: .none].bytes += size.bytes
    left.facts -= size.facts
    left.bytes -= size.bytes
    if let following = queues[submitter]?.first {
      if !following.size.fits(in: left) { pass() }
    } else {
      queues[submitter] = nil
      order.removeFirst()
      left = turn
    }
  }

  private mutating func pass() {
    order.append(order.removeFirst())
    left = turn
  }

  /// Removes all items, and returns them in the order of turns.
  mutating func removeAll() -> [Item] {
    var all: [Item] = []
    while let next = next() {
      all.append(next)
      removeNext()
    }
    return all
  }
}
