/// What the relay knows of a device at one moment: the part of an explanation that no entry holds,
/// above all what the device's lane waits for.
package struct Standing: Hashable, Sendable {
  package var device: DeviceKey
  package var at: Instant
  /// `nil` means that the device is not registered.
  package var registration: Registered?
  /// What pends on the device's lane.
  package var pending: [Part]
  /// All subscriptions of the device's user.
  package var subscriptions: [SubscriptionOutline]
  /// Of the zones asked for, those that are shared with the user, and since which fact.
  package var shared: [ZoneID: Ordinal]

  package struct Registered: Hashable, Sendable {
    package var transport: Transport
    package var topic: String
    /// The fact that last registered the device.
    package var ordinal: Ordinal
    package var at: Instant
    package var retirement: Retirement?
    package var hasAcknowledged: Bool
  }

  package struct Part: Hashable, Sendable {
    package var part: TracedPart
    package var position: Position
    package var hold: Hold
  }

  /// Why a part of the lane is not told at this moment.
  package enum Hold: Hashable, Sendable {
    case waits(Lane.Wait, until: Instant)
    /// The last attempt failed for this reason.
    case rests(until: Instant, String, isQuarantined: Bool)
    /// What pends is in no fold yet, so a device that fetches would not find it.
    case fold
    /// Only the courier reaches the device, and the device is not connected.
    case connection
    /// The attempt under way tells it.
    case attempt(UInt32)
    /// Another attempt for the device is under way, or an older alert comes first.
    case turn
    /// The lane waits in its route's queue.
    case queue
    /// The route's circuit is not closed, for this reason.
    case stopped(String)
    case noProvider
    /// The daemon stops, and begins no attempt.
    case stopping
    /// A delivered wake has told it.
    case told(UInt32)
  }

  package init(
    device: DeviceKey, at: Instant, registration: Registered? = nil, pending: [Part] = [],
    subscriptions: [SubscriptionOutline] = [], shared: [ZoneID: Ordinal] = [:]
  ) {
    self.device = device
    self.at = at
    self.registration = registration
    self.pending = pending
    self.subscriptions = subscriptions
    self.shared = shared
  }
}

extension Relay {
  /// The standing of a device now.
  ///
  /// - Parameter zones: the zones of which it is asked whether they are shared with the user.
  package func standing(of device: DeviceKey, zones: [ZoneID], at now: Instant) -> Standing {
    let home = Int(PartitionID.home(of: device.user, in: device.scope).number)
    var standing = partitions.ask(home) { $0.standing(of: device, zones: zones, at: now) }
    guard let registration = standing.registration else { return standing }
    let route = RouteKey(
      scope: device.scope, transport: registration.transport, topic: registration.topic)
    guard let obstacle = obstacle(on: route) else { return standing }
    for index in standing.pending.indices {
      switch standing.pending[index].hold {
      case .queue: standing.pending[index].hold = obstacle
      // A device rests because its route failed; when its rest is over, it waits for the route.
      case .rests(_, _, isQuarantined: false) where obstacle != .stopping:
        standing.pending[index].hold = obstacle
      case .rests, .waits, .fold, .connection, .attempt, .turn, .stopped, .noProvider, .stopping,
        .told:
        break
      }
    }
    return standing
  }

  private func obstacle(on route: RouteKey) -> Standing.Hold? {
    if isDraining { return .stopping }
    if withdrawn.contains(route) { return .noProvider }
    guard let route = routes[route], route.isStopped else { return nil }
    return .stopped(route.lastError ?? "unknown")
  }
}

extension Partition {
  fileprivate func standing(of key: DeviceKey, zones: [ZoneID], at now: Instant) -> Standing {
    var standing = Standing(device: key, at: now)
    guard let user = users.find(key.user, in: key.scope) else { return standing }
    standing.subscriptions = index.all(of: user).map { SubscriptionOutline($0) }
    for zone in zones where sharing.hasMemberships(user) && zone.owner != key.user {
      let members = sharing.members(of: ZoneKey(scope: key.scope, zone: zone))
      guard let member = members.first(where: { $0.user == user }) else { continue }
      standing.shared[zone] = member.serial.ordinal
    }
    guard let device = devices.find(key.client, of: user) else { return standing }
    let slot = devices[device]
    standing.registration = Standing.Registered(
      transport: slot.address.transport, topic: slot.address.topic, ordinal: slot.registration,
      at: slot.registeredAt, retirement: slot.lane.retirement,
      hasAcknowledged: slot.lane.hasAcknowledged)
    standing.pending = slot.lane.standing(
      at: now, stepped: stepped, folded: folded, policy: policy)
    return standing
  }
}

extension Lane {
  /// What pends, and why each part of it is not told now.
  func standing(
    at now: Instant, stepped: Ordinal, folded: Ordinal, policy: WakePolicy
  ) -> [Standing.Part] {
    func hold(_ part: Lane) -> Standing.Hold {
      var part = part
      let next = part.nextStep(at: now, stepped: stepped, folded: folded, policy: policy)
      switch next {
      case .timer(let until, .rest): return rest(until)
      case .timer(let until, let wait): return .waits(wait, until: until)
      case .fold: return .fold
      case .attempt, .tell: return .queue
      case .nothing: return .connection
      }
    }
    var parts: [Standing.Part] = []
    if let flight, let shown = flight.alert {
      parts.append(
        Standing.Part(
          part: .alert(shown.content.notification), position: shown.position,
          hold: .attempt(flight.wake)))
    }
    for (index, alert) in pending.alerts.enumerated() {
      var alone = self
      (alone.pending, alone.fallback) = (PendingSet(), nil)
      alone.pending.alerts = [alert]
      var hold = flight == nil ? hold(alone) : .turn
      if index > 0, hold == .queue { hold = .turn }
      parts.append(
        Standing.Part(
          part: .alert(alert.content.notification), position: alert.position, hold: hold))
    }
    for (part, subject) in zip(pending.waking.parts, pending.subjects) {
      let hold: Standing.Hold =
        switch (subject.isFresh, flight) {
        case (true, nil): hold(keeping(subject))
        case (true, _): .turn
        case (false, let flight?) where subject.isCovered: .attempt(flight.wake)
        case (false, _): .told(subject.toldBy)
        }
      parts.append(Standing.Part(part: part, position: subject.position, hold: hold))
    }
    return parts
  }

  private func rest(_ until: Instant) -> Standing.Hold {
    guard case .resting(let rest) = state else { return .waits(.rest, until: until) }
    return .rests(
      until: until, lastVerdict?.text ?? "unknown", isQuarantined: rest.isQuarantined)
  }

  /// The lane with this subject alone, which waits for its own sake.
  private func keeping(_ subject: Pending) -> Lane {
    var alone = self
    alone.fallback = nil
    alone.pending.alerts = []
    alone.pending.waking.keep { $0 == subject }
    return alone
  }
}
