import HeapModule
import OrderedCollections

/// A lane that may be woken now, in line at its route.
package struct ReadyLane: Hashable, Sendable {
  package var partition: PartitionID
  package var device: Int
  package var route: RouteKey
  package var isAlert: Bool
  /// Whose device it is, by the partition's number for the user; 0 over the courier, where users
  /// have no shares.
  package var user = 0
  /// Its last attempt failed: it has been served, and stands apart from fresh work.
  package var isRetry = false
}

extension Partition {
  /// Asks lanes what they wait for: those of this batch of inputs, and timers that are due.
  ///
  /// - Returns: lanes that may be woken now. Each stands in one line at a time.
  package mutating func ready(at now: Instant) -> [ReadyLane] {
    var ready: [ReadyLane] = []
    let stirred = restless.elements
    restless = []
    for device in stirred + fireTimers(at: now) where devices.contains(device) {
      consider(device, at: now, &ready)
    }
    return ready
  }

  /// After new rules, lanes that are asked with the next `ready` what they wait for.
  ///
  /// - Returns: how many slots were looked at.
  mutating func askAnew(atMost count: Int) -> Int {
    let part = askedAnew.prefix(count)
    for device in part where devices.contains(device) { restless.append(device) }
    askedAnew = part.upperBound..<askedAnew.upperBound
    return part.count
  }

  /// A lane had an input: it is written with the next cut, and asked what it waits for.
  mutating func stir(_ device: Int) {
    rows.devices.append(device)
    restless.append(device)
  }

  /// When `ready` should be asked again, though nothing else happens.
  @inline(__always)
  package var nextTimer: Instant? {
    if !askedAnew.isEmpty { return .zero }
    let first = [timers.min?.at, lapsing.min?.at].compactMap(\.self).min()
    guard let tick = sequences.nextTick else { return first }
    return min(tick, first ?? .never)
  }

  /// At most a few for each device, whatever happens.
  package var timersWaiting: Int { timers.count }

  private mutating func fireTimers(at now: Instant) -> [Int] {
    var fired: [Int] = []
    while let timer = timers.min, timer.at <= now {
      timers.removeMin()
      guard devices.contains(timer.device), devices[timer.device].armed == timer.at else {
        continue
      }
      devices[timer.device].armed = .never
      fired.append(timer.device)
    }
    return fired
  }

  mutating func consider(_ device: Int, at now: Instant, _ ready: inout [ReadyLane]) {
    switch devices[device].lane.need(
      at: now, stepped: stepped, folded: folded, policy: policy)
    {
    case .nothing:
      break
    case .timer(let at):
      // One that fires earlier asks again: a need that moves ahead leaves no trail of timers.
      guard at < devices[device].armed else { return }
      devices[device].armed = at
      timers.insert(Timer(at: at, device: device))
    case .fold:
      guard !devices[device].isAwaitingFold else { return }
      devices[device].isAwaitingFold = true
      awaitingFold.append(device)
      rows.devices.append(device)
    case .attempt(let isAlert):
      let route = route(of: device)
      guard devices[device].line != route else { return }
      devices[device].line = route
      ready.append(
        ReadyLane(
          partition: id, device: device, route: route, isAlert: isAlert,
          user: devices[device].user, isRetry: devices[device].lane.isRetrying))
    case .tell(let isAlert):
      // It may stand in its provider's line as well: a stopped route does not hold the courier up.
      guard !devices[device].isAtCourier else { return }
      devices[device].isAtCourier = true
      ready.append(
        ReadyLane(
          partition: id, device: device, route: courier(of: device), isAlert: isAlert))
    }
  }

  /// The route's provider is another one: what the one before said keeps no lane waiting. Lanes
  /// that stand in the route's line stay there; the others of the route wait for nothing of it.
  package mutating func renew(_ renewed: RouteKey, at now: Instant) {
    for device in devices.counts.resting.sorted() where route(of: device) == renewed {
      devices[device].lane.renewed(at: now)
      restless.append(device)
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

  /// A device was served a page, or presented a token. Only this moves what it knows: a push may be
  /// lost on its way.
  package mutating func served(
    _ reached: Acknowledged, by key: DeviceKey, at now: Instant? = nil
  ) {
    guard let device = find(key) else { return }
    if let now {
      devices[device].lane.lastFetch = now
      devices[device].lane.answered(at: now, policy: policy)
      heardOf(device, at: now)
    }
    switch reached {
    case .notifications(let position):
      devices[device].lane.acknowledged(notifications: position, ledger: &ledger)
    case .zone(let zone, let database, let position):
      devices[device].lane.acknowledged(
        zone: zone, database, position: position, ledger: &ledger)
    case .listed(let zones, let database):
      devices[device].lane.listed(zones, database)
    case .wake(let wake):
      devices[device].lane.acknowledged(wake: wake, ledger: &ledger)
    }
    stir(device)
  }

  /// A user may not see a zone any more, or it has ended: nothing of it leaves from now on (P9).
  mutating func withdraw(
    _ zone: ZoneID, _ database: Database, of user: Int, _ step: Step, _ effects: inout [Effect]
  ) {
    recall(devices.all(of: user), step, &effects)
    withdraw(.zone(zone, database), of: user)
  }

  /// Whatever is under way to these devices may tell of what ended: what has not left is made anew.
  mutating func recall(_ meant: [Int], _ step: Step, _ effects: inout [Effect]) {
    let attempts = meant.filter { devices[$0].attempt > 0 }.map {
      PushAttempt.ID(partition: id, device: $0, serial: devices[$0].attempt)
    }
    guard !attempts.isEmpty else { return }
    let own = FactPlace(partition: id, ordinal: step.ordinal)
    effects.append(.recall(attempts, step.cause ?? own))
  }

  mutating func withdraw(_ withdrawal: Withdrawal, of user: Int) {
    for device in devices.all(of: user) {
      devices[device].lane.withdraw(withdrawal, ledger: &ledger)
      stir(device)
    }
  }
}

/// What a device gave to know that it knows.
package enum Acknowledged: Hashable, Sendable {
  case notifications(Position)
  case zone(ZoneID, Database, Position)
  /// A database page listed these zones.
  case listed([ZoneID], Database)
  case wake(UInt32)
}
