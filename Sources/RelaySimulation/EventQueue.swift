import HeapModule
import RelayCore

/// What may happen next, in order of (instant, sequence): the order is all there is of time.
struct EventQueue {
  private struct Item: Comparable {
    var at: Instant
    var sequence: Int
    var event: WorldEvent

    static func < (left: Item, right: Item) -> Bool {
      (left.at, left.sequence) < (right.at, right.sequence)
    }
    static func == (left: Item, right: Item) -> Bool { left.sequence == right.sequence }
  }

  private var heap = Heap<Item>()
  private var sequence = 0

  mutating func add(_ event: WorldEvent, at: Instant) {
    sequence += 1
    heap.insert(Item(at: at, sequence: sequence, event: event))
  }

  mutating func next() -> (at: Instant, event: WorldEvent)? {
    heap.popMin().map { ($0.at, $0.event) }
  }
}

/// Everything the world consists of. `life` is the daemon's: what was meant for an earlier life
/// finds nobody.
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
  case crash
  case recover
  case copy
  case restore
  case stop
  case attack
  case clockSet
  case calm
}

/// What a requester hears.
enum Reply {
  case answers([Answer])
  /// Full, draining or down: nothing was taken.
  case unavailable
  /// It will never be taken.
  case tooLarge
}

/// A push that a provider took.
struct PushTaken {
  var attempt: PushAttempt
  var text: PushText
  /// Everything up to here was stepped in its partition when the payload was made.
  var stepped: Ordinal
}
