import HeapModule
import RelayCore

/// The events to come, in order of (instant, sequence). This order alone defines the world's time.
struct EventQueue<Event> {
  private struct Item: Comparable {
    var at: Instant
    var sequence: Int
    var event: Event

    static func < (left: Item, right: Item) -> Bool {
      (left.at, left.sequence) < (right.at, right.sequence)
    }
    static func == (left: Item, right: Item) -> Bool { left.sequence == right.sequence }
  }

  private var heap = Heap<Item>()
  private var sequence = 0

  mutating func add(_ event: Event, at: Instant) {
    sequence += 1
    heap.insert(Item(at: at, sequence: sequence, event: event))
  }

  mutating func next() -> (at: Instant, event: Event)? {
    heap.popMin().map { ($0.at, $0.event) }
  }
}

/// All kinds of events of the world. `life` is the daemon's life for which the event is meant; an
/// event of an earlier life has no effect.
enum WorldEvent {
  case produce
  case act(client: Int)
  case submit(operation: Int)
  case answer(operation: Int, Reply)
  case retry(operation: Int)
  case committed(life: Int)
  case trimmed(life: Int, Int)
  case folded(life: Int)
  case timer(life: Int)
  case verdict(life: Int, PushAttempt, Verdict)
  case taken(PushTaken)
  case woken(client: Int, wake: UInt32, user: UserID)
  case fetch(client: Int, FeedKey)
  case connect(client: Int)
  case leave(client: Int, connection: UInt64)
  case told(life: Int, client: Int, connection: UInt64, PushTaken)
  case recover
  case copy
  case restore
  case stop
  case attack
  case clockSet
  case reload(RouteKey)
  case calm
}

/// The reply that a requester receives.
enum Reply {
  case answers([Answer])
  /// The relay cannot take or finish the request now; the sender tries again.
  case unavailable
  /// The request is too large, so the relay will never take it.
  case tooLarge
}

/// A push that a provider has taken.
struct PushTaken {
  var attempt: PushAttempt
  var text: PushText
  /// The last fact that the partition had stepped when the payload was made.
  var stepped: Ordinal
}
