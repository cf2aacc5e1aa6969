import DequeModule

/// Lanes that wait for a route. All alerts are served before background wakes; each of the two
/// kinds has an order of its own.
///
/// Lanes whose last attempt failed wait apart, in the order in which they are due again. Three of
/// four turns are for fresh lanes and the fourth is for retries, however many retries wait after a
/// fault.
///
/// A place is a device's slot together with its user, and is in the queue only once. So a user's
/// devices that move or disappear while a route is stopped do not make the queue longer. If another
/// user gets the slot, that user has another place, and does not wait for the first user's share.
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

  /// Removes and returns the next lane; `nil` if no lane waits.
  mutating func next() -> ReadyLane? {
    guard let lane = alerts.next() ?? background.next() else { return nil }
    standing.remove(Place(lane))
    return lane
  }
}

private struct Turns: Hashable, Sendable {
  private var fresh: Deque<ReadyLane> = []
  private var retries: Deque<ReadyLane> = []
  /// How many fresh lanes in a row had their turn while a retry waited.
  private var passed = 0

  /// After this many fresh lanes a retry has its turn. A small share of the turns is enough for the
  /// retries after a fault, and hardly delays fresh lanes.
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
