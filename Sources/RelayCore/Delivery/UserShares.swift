import DequeModule

/// How many attempts each user may have in flight on a route where every device has a provider of
/// its own. A user may register endpoints that never answer. Attempts at such endpoints use the
/// user's own share until they time out, and leave the route's room to other users.
struct UserShares: Sendable {
  private let most: Int

  private struct Owner: Hashable, Sendable {
    var partition: PartitionID
    var user: Int
  }

  private struct Share: Sendable {
    var underWay = 0
    /// Lanes whose turn came while the user's share was used up, in order. The list has each device
    /// number at most once, even if the number now belongs to another device of the user.
    var parked: Deque<ReadyLane> = []
    var devices: Set<Int> = []

    mutating func park(_ lane: ReadyLane) {
      if devices.insert(lane.device).inserted { parked.append(lane) }
    }

    mutating func next() -> ReadyLane? {
      guard let lane = parked.popFirst() else { return nil }
      devices.remove(lane.device)
      return lane
    }
  }

  private var shares: [Owner: Share] = [:]
  private var owners: [PushAttempt.ID: Owner] = [:]

  init(most: Int) { self.most = most }

  /// Whether the lane, which has its turn, may begin an attempt. If the user's share is used up,
  /// the lane is parked.
  ///
  /// - Returns: false if the lane is parked until an attempt of its user has ended.
  mutating func mayGo(_ lane: ReadyLane) -> Bool {
    let owner = Owner(partition: lane.partition, user: lane.user)
    guard let share = shares[owner], share.underWay >= most else { return true }
    shares[owner]?.park(lane)
    return false
  }

  mutating func began(_ attempt: PushAttempt.ID, of lane: ReadyLane) {
    let owner = Owner(partition: lane.partition, user: lane.user)
    owners[attempt] = owner
    shares[owner, default: Share()].underWay += 1
  }

  /// - Returns: a parked lane of the same user, which the caller adds to the route's queue again.
  mutating func ended(_ attempt: PushAttempt.ID) -> ReadyLane? {
    guard let owner = owners.removeValue(forKey: attempt) else { return nil }
    shares[owner]?.underWay -= 1
    return next(of: owner)
  }

  /// The lane had nothing to tell, so a parked lane of the user may have its turn.
  ///
  /// - Returns: a parked lane of the same user, which the caller adds to the route's queue again.
  mutating func declined(_ lane: ReadyLane) -> ReadyLane? {
    let owner = Owner(partition: lane.partition, user: lane.user)
    guard let share = shares[owner], share.underWay < most else { return nil }
    return next(of: owner)
  }

  private mutating func next(of owner: Owner) -> ReadyLane? {
    let next = shares[owner]?.next()
    if let share = shares[owner], share.underWay == 0, share.parked.isEmpty { shares[owner] = nil }
    return next
  }
}
