import DequeModule
import RelayCore

/// Everything that came in meanwhile goes into one durable commit; one is under way at a time, and
/// gives its facts their ordinals only when it is durable.
struct GroupCommit: Sendable {
  /// Who hears of a fact when it has been stepped.
  enum Origin: Sendable {
    case submission(Settling.Ticket)
    case forward(OutboxRow.Key, from: PartitionID)
    /// A fact of our own.
    case none
  }

  struct Waiting: Sendable {
    var partition: PartitionID
    var fact: Fact
    var origin: Origin
  }

  struct Placed: Sendable {
    var entry: JournalEntry
    var origin: Origin
  }

  /// Facts in one commit; what is beyond goes into the next.
  static let factsMax = 8_192

  private var waiting: Deque<Waiting> = []
  private var underWay: [Placed] = []
  private var last: [Ordinal]
  private var retryAt: Instant?

  /// - Parameter last: of each partition, the last ordinal in its journal.
  init(last: [Ordinal]) { self.last = last }

  var isIdle: Bool { waiting.isEmpty && underWay.isEmpty }
  var isUnderWay: Bool { !underWay.isEmpty }

  mutating func add(_ fact: Waiting) { waiting.append(fact) }

  /// The next commit, if none is under way and something waits.
  mutating func next(at now: Instant) -> [JournalEntry]? {
    guard underWay.isEmpty, !waiting.isEmpty else { return nil }
    if let retryAt, now < retryAt { return nil }
    retryAt = nil
    var next = last
    underWay.reserveCapacity(min(waiting.count, Self.factsMax))
    while underWay.count < Self.factsMax, let item = waiting.popFirst() {
      let index = Int(item.partition.number)
      next[index] = next[index].next
      underWay.append(
        Placed(
          entry: JournalEntry(
            partition: item.partition, ordinal: next[index], at: now, fact: item.fact),
          origin: item.origin))
    }
    return underWay.map(\.entry)
  }

  /// It is durable: these are stepped now, in this order.
  mutating func committed() -> [Placed] {
    for placed in underWay { last[Int(placed.entry.partition.number)] = placed.entry.ordinal }
    defer { underWay = [] }
    return underWay
  }

  /// Nothing of it was written. Facts of our own wait for the next try; the others are given back
  /// to be refused.
  mutating func refused(retryAt: Instant) -> [Settling.Ticket] {
    var tickets: [Settling.Ticket] = []
    let all = underWay.map {
      Waiting(partition: $0.entry.partition, fact: $0.entry.fact, origin: $0.origin)
    }
    underWay = []
    var own: Deque<Waiting> = []
    for item in all + waiting {
      if case .submission(let ticket) = item.origin {
        tickets.append(ticket)
      } else {
        own.append(item)
      }
    }
    waiting = own
    self.retryAt = retryAt
    return tickets
  }
}
