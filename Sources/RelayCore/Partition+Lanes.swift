/// A lane that may be woken now and waits in the queue of its route.
package struct ReadyLane: Hashable, Sendable {
  package var partition: PartitionID
  package var device: Int
  package var route: RouteKey
  package var isAlert: Bool
  /// The partition's number for the device's user; 0 over the courier, where users have no shares.
  package var user = 0
  /// Whether the lane's last attempt failed. Such lanes wait apart from lanes with fresh work.
  package var isRetry = false

  var isOverCourier: Bool { route.transport == .courier }
}

extension Partition {
  /// Evaluates lanes that had an input, and those whose timer is due.
  ///
  /// - Returns: lanes that may be woken now. Each waits at most once in a route's queue.
  package mutating func ready(at now: Instant) -> [ReadyLane] {
    var ready: [ReadyLane] = []
    for device in wakes.takeDue(at: now) where devices.contains(device) {
      evaluate(device, at: now, &ready)
    }
    return ready
  }

  /// Marks lanes that the next `ready` evaluates, after the rules have changed.
  ///
  /// - Returns: how many slots were looked at.
  mutating func markOutdated(atMost count: Int) -> Int {
    wakes.markOutdated(atMost: count, in: devices)
  }

  /// A lane had an input: it is written with the next cut, and evaluated.
  mutating func markDirty(_ device: Int) {
    devices.write(device)
    wakes.markDirty(device)
  }

  /// When `ready` should be called again if nothing else happens.
  @inline(__always)
  package var nextTimer: Instant? {
    let next = min(
      wakes.nextTimer ?? .never, devices.nextLapse ?? .never, sequences.nextTick ?? .never)
    return next == .never ? nil : next
  }

  mutating func evaluate(_ device: Int, at now: Instant, _ ready: inout [ReadyLane]) {
    let next = devices[device].lane.nextStep(
      at: now, stepped: stepped, folded: folded, policy: policy)
    trace(next, of: device, at: now)
    switch next {
    case .nothing:
      break
    case .timer(let at, _):
      wakes.arm(device, at: at)
    case .fold:
      if wakes.awaitFold(device) { devices.write(device) }
    case .attempt(let isAlert):
      let route = route(of: device)
      guard wakes.lineUp(device, at: route) else { return }
      ready.append(
        ReadyLane(
          partition: id, device: device, route: route, isAlert: isAlert,
          user: devices[device].user, isRetry: devices[device].lane.isRetrying))
    case .tell(let isAlert):
      guard wakes.lineUpAtCourier(device) else { return }
      ready.append(
        ReadyLane(
          partition: id, device: device, route: courier(of: device), isAlert: isAlert))
    }
  }

  /// The route has another provider now, so lanes that rest because of the earlier provider are
  /// evaluated again. Lanes in the route's queue stay in the queue.
  package mutating func renew(_ renewed: RouteKey, at now: Instant) {
    for device in devices.counts.resting.sorted() where route(of: device) == renewed {
      devices[device].lane.renewed(at: now)
      wakes.markDirty(device)
    }
  }

  func key(of device: Int) -> DeviceKey {
    let owner = users[devices[device].user]
    return DeviceKey(scope: owner.scope, user: owner.user, client: devices[device].client)
  }

  func find(_ key: DeviceKey) -> Int? {
    users.find(key.user, in: key.scope).flatMap { devices.find(key.client, of: $0) }
  }

  func route(of device: Int) -> RouteKey {
    let slot = devices[device]
    return RouteKey(
      scope: users[slot.user].scope, transport: slot.address.transport,
      topic: slot.address.topic)
  }

  /// A device was served a page, presented a token or acknowledged a wake. Only these inputs change
  /// what the device is known to have, because a push may be lost on its way.
  package mutating func served(
    _ reached: Acknowledged, by key: DeviceKey, at now: Instant? = nil
  ) {
    guard let device = find(key) else { return }
    if let now {
      trace(.acknowledged(reached), of: device, at: now)
      devices[device].lane.fetched(at: now)
      devices[device].lane.answered(at: now, policy: policy)
      heardOf(device, at: now)
    }
    let account = devices.account(of: device)
    switch reached {
    case .notifications(let position, _):
      devices[device].lane.acknowledged(notifications: position, ledger: &ledgers[account])
    case .zone(let zone, let database, let position, _):
      devices[device].lane.acknowledged(
        zone: zone, database, position: position, ledger: &ledgers[account])
    case .listed(let zones, let database):
      devices[device].lane.listed(zones, database)
    case .wake(let wake):
      devices[device].lane.acknowledged(wake: wake, ledger: &ledgers[account])
    }
    markDirty(device)
  }

  /// A user may not see a zone any more, or the zone has ended. From now on no wake names the zone
  /// (P9).
  mutating func withdraw(
    _ zone: ZoneID, _ database: Database, of user: Int, _ step: Step, _ effects: inout [Effect]
  ) {
    recall(devices.all(of: user), step, &effects)
    withdraw(.zone(zone, database), of: user, at: step.at)
  }

  /// Takes back the attempts for these devices, because their payloads may name what has ended. An
  /// attempt that was not sent yet is made anew.
  mutating func recall(_ meant: [Int], _ step: Step, _ effects: inout [Effect]) {
    let attempts = meant.compactMap { device in
      devices[device].attempt.map {
        PushAttempt.ID(partition: id, device: device, serial: $0.serial)
      }
    }
    guard !attempts.isEmpty else { return }
    let own = FactPlace(partition: id, ordinal: step.ordinal)
    effects.append(.recall(attempts, step.cause ?? own))
  }

  mutating func withdraw(_ withdrawal: Withdrawal, of user: Int, at now: Instant) {
    for device in devices.all(of: user) {
      let account = devices.account(of: device)
      if devices[device].lane.holdsAnything { trace(.withdrawn(withdrawal), of: device, at: now) }
      devices[device].lane.withdraw(withdrawal, ledger: &ledgers[account])
      markDirty(device)
    }
  }
}

/// What a device has proved to have received.
package enum Acknowledged: Hashable, Sendable {
  /// How a device proves that it has a feed up to a position.
  package enum Proof: UInt8, Hashable, Sendable {
    /// It was served a page that ends there.
    case page = 1
    /// It presented a token of that position.
    case token
  }

  case notifications(Position, Proof = .page)
  case zone(ZoneID, Database, Position, Proof = .page)
  /// A database page listed these zones.
  case listed([ZoneID], Database)
  case wake(UInt32)
}
