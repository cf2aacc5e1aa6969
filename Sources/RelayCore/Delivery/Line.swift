import DequeModule

/// Lanes that wait for a route: alerts first, each kind in its own order.
///
/// Lanes whose last attempt failed stand apart, by the time they are due again: however many a
/// fault has left behind, three of four turns are for fresh work, and the fourth is theirs.
struct Line: Hashable, Sendable {
  private var alerts = Turns()
  private var background = Turns()

  var count: Int { alerts.count + background.count }

  mutating func append(_ lane: ReadyLane) {
    if lane.isAlert { alerts.append(lane) } else { background.append(lane) }
  }

  /// The next whose turn it is; nil if none waits.
  mutating func next() -> ReadyLane? { alerts.next() ?? background.next() }
}

private struct Turns: Hashable, Sendable {
  private var fresh: Deque<ReadyLane> = []
  private var retries: Deque<ReadyLane> = []
  /// Fresh ones that went while a retry waited.
  private var passed = 0

  /// A small share clears what a fault has left, and nobody is held up by it.
  private static let passedMax = 3

  var count: Int { fresh.count + retries.count }

  mutating func append(_ lane: ReadyLane) {
    if lane.isRetry { retries.append(lane) } else { fresh.append(lane) }
  }

  mutating func next() -> ReadyLane? {
    guard !retries.isEmpty else { return fresh.popFirst() }
    if passed < Self.passedMax, let lane = fresh.popFirst() {
      passed += 1
      return lane
    }
    passed = 0
    return retries.popFirst()
  }
}
