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
  /// For each zone that was asked for and is shared with the user, the fact since which the zone is
  /// shared.
  package var shared: [ZoneID: Ordinal] = [:]

  package struct Registered: Hashable, Sendable {
    package var transport: Transport
    package var topic: String
    package var at: Instant
    package var retirement: Retirement?
  }

  package struct Part: Hashable, Sendable {
    package var part: TracedPart
    package var position: Position
    /// Why the part is not told at this moment; `nil` if a delivered wake has told it.
    package var reason: Explanation.Reason?
    /// Whether the part only waits for its lane's turn in the route's queue, because no other
    /// attempt for the device is under way.
    var isInLine = false
  }
}

extension Relay {
  /// The standings of devices now, in the order of `devices`.
  ///
  /// - Parameter zones: the zones for which each standing states whether they are shared with the
  ///   device's user.
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

  /// The standing with the state of the device's route added, because a partition does not have the
  /// routes.
  private func holding(_ standing: Standing) -> Standing {
    var standing = standing
    guard let registration = standing.registration else { return standing }
    let route = RouteKey(
      scope: standing.device.scope, transport: registration.transport, topic: registration.topic)
    guard let obstacle = obstacle(on: route) else { return standing }
    for index in standing.pending.indices {
      switch standing.pending[index].reason {
      case .queued where standing.pending[index].isInLine: standing.pending[index].reason = obstacle
      // A device rests because its route failed; when its rest is over, it waits for the route.
      case .resting where obstacle != .stopping: standing.pending[index].reason = obstacle
      default: break
      }
    }
    return standing
  }

  private func obstacle(on route: RouteKey) -> Explanation.Reason? {
    if isDraining { return .stopping }
    if withdrawn.contains(route) { return .noProvider }
    guard let route = routes[route], route.isStopped else { return nil }
    return .routeStopped(route.lastError ?? "unknown")
  }
}

extension Partition {
  /// The standings of devices of this partition. What belongs to a user is read once for all of the
  /// user's devices, and a zone's members once for all users: a zone may have ten thousand members,
  /// and the loop waits for this method.
  fileprivate func standings(
    of keys: [DeviceKey], zones: [ZoneID], at now: Instant
  ) -> [Standing] {
    let owners = keys.map { users.find($0.user, in: $0.scope) }
    let asked = Set(owners.compactMap(\.self))
    let subscriptions = Dictionary(
      uniqueKeysWithValues: asked.map { ($0, index.all(of: $0).map { SubscriptionOutline($0) }) })
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
      transport: slot.address.transport, topic: slot.address.topic, at: slot.registeredAt,
      retirement: slot.lane.retirement)
    standing.pending = slot.lane.standing(
      at: standing.at, stepped: stepped, folded: folded, policy: policy)
  }
}

extension Lane {
  /// What pends, and why each part of it is not told now.
  func standing(
    at now: Instant, stepped: Ordinal, folded: Ordinal, policy: WakePolicy
  ) -> [Standing.Part] {
    func reason(_ part: Lane) -> Explanation.Reason? {
      var part = part
      switch part.nextStep(at: now, stepped: stepped, folded: folded, policy: policy) {
      case .timer(let until, let wait): return self.reason(wait, until)
      case .fold: return .notFolded
      case .attempt, .tell: return .queued
      case .nothing: return .notConnected
      }
    }
    var parts: [Standing.Part] = []
    func add(
      _ part: TracedPart, _ position: Position, _ reason: Explanation.Reason?,
      isInLine: Bool = false
    ) {
      parts.append(
        Standing.Part(part: part, position: position, reason: reason, isInLine: isInLine))
    }
    if let flight, let shown = flight.alert {
      add(.alert(shown.content.alert), shown.position, .underWay(flight.wake))
    }
    for alert in pending.alerts {
      var alone = self
      (alone.pending, alone.fallback) = (PendingSet(), nil)
      alone.pending.alerts = [alert]
      let reason = flight == nil ? reason(alone) : .queued
      add(
        .alert(alert.content.alert), alert.position, reason,
        isInLine: flight == nil)
    }
    for (part, subject) in zip(pending.waking.parts, pending.subjects) {
      let reason: Explanation.Reason? =
        switch (subject.isFresh, flight) {
        case (true, nil): reason(keeping(subject))
        case (true, _): .queued
        case (false, let flight?) where subject.isCovered: .underWay(flight.wake)
        case (false, _): nil
        }
      add(part, subject.position, reason, isInLine: flight == nil)
    }
    return parts
  }

  private func reason(_ wait: Wait, _ until: Instant) -> Explanation.Reason? {
    switch wait {
    case .window: return .gathering(until: until)
    case .rest:
      let text = lastVerdict?.text ?? "unknown"
      if case .resting(let rest) = state, rest.isQuarantined {
        return .quarantined(until: until, text)
      }
      return .resting(until: until, text)
    case .alertBudget: return .budget(until: until, isAlert: true)
    case .backgroundBudget: return .budget(until: until, isAlert: false)
    case .slot: return .paced(until: until)
    case .nextPoll: return .betweenPolls(until: until)
    case .acknowledgement: return nil
    }
  }

  /// The lane with only this subject pending, to find what the subject itself waits for.
  private func keeping(_ subject: Pending) -> Lane {
    var alone = self
    alone.fallback = nil
    alone.pending.alerts = []
    alone.pending.waking.keep { $0 == subject }
    return alone
  }
}
