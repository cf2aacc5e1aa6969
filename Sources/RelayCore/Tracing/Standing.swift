/// What the relay knows of a device at one moment: the part of an explanation that no entry holds,
/// above all what the device's lane waits for.
package struct Standing: Hashable, Sendable {
  package var device: DeviceKey
  package var at: Instant
  /// `nil` means that the device is not registered.
  package var registration: Registered?
  /// What pends on the device's lane.
  package var pending: [Part] = []
  /// All subscriptions of the device's user.
  package var subscriptions: [SubscriptionOutline] = []
  /// Of the zones asked for, those that are shared with the user, and since which fact.
  package var shared: [ZoneID: Ordinal] = [:]

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
}

extension Relay {
  /// The standings of devices now, in the order of `devices`.
  ///
  /// - Parameter zones: the zones of which it is asked whether they are shared with the users.
  package func standings(
    of devices: [DeviceKey], zones: [ZoneID], at now: Instant
  ) -> [Standing] {
    var standings = devices.map { Standing(device: $0, at: now) }
    let homes = Dictionary(grouping: devices.indices) {
      Int(PartitionID.home(of: devices[$0].user, in: devices[$0].scope).number)
    }
    for (home, places) in homes {
      let keys = places.map { devices[$0] }
      let found = partitions.ask(home) { $0.standings(of: keys, zones: zones, at: now) }
      for (place, standing) in zip(places, found) { standings[place] = holding(standing) }
    }
    return standings
  }

  package func standing(of device: DeviceKey, zones: [ZoneID], at now: Instant) -> Standing {
    standings(of: [device], zones: zones, at: now)[0]
  }

  /// The standing with what the device's route knows: a partition does not know the routes.
  private func holding(_ standing: Standing) -> Standing {
    var standing = standing
    guard let registration = standing.registration else { return standing }
    let route = RouteKey(
      scope: standing.device.scope, transport: registration.transport, topic: registration.topic)
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
  /// The standings of devices of this partition. What belongs to a user is read once for all of the
  /// user's devices, and a zone's members once for all users, because a zone may have ten thousand
  /// and the loop answers.
  fileprivate func standings(
    of keys: [DeviceKey], zones: [ZoneID], at now: Instant
  ) -> [Standing] {
    let owners = keys.map { users.find($0.user, in: $0.scope) }
    let asked = Set(owners.compactMap(\.self))
    var subscriptions: [Int: [SubscriptionOutline]] = [:]
    for user in asked {
      subscriptions[user] = index.all(of: user).map { SubscriptionOutline($0) }
    }
    var shared: [Int: [ZoneID: Ordinal]] = [:]
    for scope in Set(keys.map(\.scope)) {
      for zone in zones {
        for member in sharing.members(of: ZoneKey(scope: scope, zone: zone))
        where asked.contains(member.user) {
          shared[member.user, default: [:]][zone] = member.serial.ordinal
        }
      }
    }
    return zip(keys, owners).map { key, user in
      var standing = Standing(device: key, at: now)
      guard let user else { return standing }
      standing.subscriptions = subscriptions[user] ?? []
      standing.shared = shared[user] ?? [:]
      lane(of: key, user, into: &standing)
      return standing
    }
  }

  private func lane(of key: DeviceKey, _ user: Int, into standing: inout Standing) {
    guard let device = devices.find(key.client, of: user) else { return }
    let slot = devices[device]
    standing.registration = Standing.Registered(
      transport: slot.address.transport, topic: slot.address.topic, ordinal: slot.registration,
      at: slot.registeredAt, retirement: slot.lane.retirement,
      hasAcknowledged: slot.lane.hasAcknowledged)
    standing.pending = slot.lane.standing(
      at: standing.at, stepped: stepped, folded: folded, policy: policy)
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
