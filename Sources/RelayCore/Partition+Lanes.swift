extension Partition {
  /// The route has another provider now, so lanes that rest because of the earlier provider are
  /// evaluated again. Lanes in the route's queue stay in the queue.
  package mutating func renew(_ renewed: RouteKey, at now: Instant) {
    for device in devices.counts.resting.sorted() where route(of: device) == renewed {
      devices[device].lane.renewed(at: now)
      wakes.markDirty(device)
    }
  }

  /// A device was served a page, presented a token or acknowledged a wake. Only these inputs change
  /// what the device is known to have, because a push may be lost on its way. The number of a wake
  /// that this life does not know is ignored.
  package mutating func served(
    _ reached: Acknowledged, by key: DeviceKey, at now: Instant? = nil
  ) {
    guard let device = find(key) else { return }
    if case .wake(let wake) = reached, !devices[device].lane.mayHaveTold(wake) { return }
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

  /// Takes back these devices' attempts that have not left the relay, because a payload may name
  /// what has ended, or because the devices were unregistered or displaced. A lane that still has
  /// something to tell gets a new attempt.
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
    /// The relay served the device a page that ends at the position.
    case page = 1
    /// The device presented a token of the position.
    case token
  }

  case notifications(Position, Proof = .page)
  case zone(ZoneID, Database, Position, Proof = .page)
  /// A database page listed these zones.
  case listed([ZoneID], Database)
  case wake(UInt32)
}
