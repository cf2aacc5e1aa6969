import DequeModule

/// Lanes that wait for a route: alerts first, each kind in its own order.
///
/// Lanes whose last attempt failed stand apart, by the time they are due again: however many a
/// fault has left behind, three of four turns are for fresh work, and the fourth is theirs.
///
/// A place is a device's slot while one user has it, and stands here once: so a user's devices that
/// move or go while a route is stopped do not make the line longer. The next user who gets the slot
/// has a place of its own, and waits for no share but its own.
struct RouteQueue: Hashable, Sendable {
  private var alerts = Turns()
  private var background = Turns()
  private var standing: Set<Place> = []

  private struct Place: Hashable, Sendable {
    var partition: PartitionID
    var device: Int
    var user: Int

    init(_ lane: ReadyLane) {
      (partition, device, user) = (lane.partition, lane.device, lane.user)
    }
  }

  var count: Int { standing.count }

  mutating func append(_ lane: ReadyLane) {
    guard standing.insert(Place(lane)).inserted else { return }
    if lane.isAlert { alerts.append(lane) } else { background.append(lane) }
  }

  /// The next whose turn it is; nil if none waits.
  mutating func next() -> ReadyLane? {
    guard let lane = alerts.next() ?? background.next() else { return nil }
    standing.remove(Place(lane))
    return lane
  }
}

private struct Turns: Hashable, Sendable {
  private var fresh: Deque<ReadyLane> = []
  private var retries: Deque<ReadyLane> = []
  /// Fresh ones that went while a retry waited.
  private var passed = 0

  /// A small share clears what a fault has left, and nobody is held up by it.
  private static let passedMax = 3

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
