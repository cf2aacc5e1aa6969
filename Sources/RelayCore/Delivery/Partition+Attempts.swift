extension Partition {
  /// Begins an attempt for a lane, for which the route has room now. Each attempt gets a new
  /// payload, from what still pends on the lane.
  ///
  /// - Parameter wallAhead: how far the wall clock is ahead of `now`. Times in the push are those
  ///   of the wall clock.
  /// - Returns: `nil` if the lane has nothing to tell over this route now.
  package mutating func begin(
    _ ready: ReadyLane, at now: Instant, wallAhead: Span = .zero
  ) -> PushAttempt? {
    guard devices.contains(ready.device) else { return nil }
    let device = ready.device
    let overCourier = ready.isOverCourier
    // Another user's device may have the device number by now. That device has its own place in the
    // queue.
    guard overCourier || devices[device].user == ready.user else { return nil }
    wakes.leaveLine(device, at: ready.route)
    markDirty(device)
    // Since the lane joined the queue, its device may have moved to another route, or another
    // device may have its number.
    guard let isAlert = wanted(of: ready, at: now) else { return nil }
    if !isAlert, isSentBack(device, at: now) { return nil }
    let lane = devices[device].lane
    let owner = users[devices[device].user]
    guard let (told, listed) = text(of: ready, isAlert: isAlert, owner, at: now) else {
      return nil
    }
    var text = told
    text.notBefore = text.notBefore.map { $0 + wallAhead }
    let bytesMax = min(limits.payloadBytes, ready.route.transport.payloadBytesMax)
    let payload = PayloadEncoder.encode(
      text, bytesMax: bytesMax, aim: devices[device].isCutDown ? bytesMax / 2 : nil)
    let folded = folded
    if isAlert, !payload.isVisible {
      let account = devices.account(of: device)
      devices[device].lane.hush(folded: folded, limits: limits, ledger: &ledgers[account])
      let part = devices[device].lane.part(of: told.content)
      trace(.hushed(told.content.notification, part), of: device, at: now)
      return nil
    }
    let naming = WakeNaming(
      lane: lane, text: text, places: Set(listed.prefix(payload.zonesNamed).map(\.content.place)),
      folded: folded, overCourier: overCourier, at: now)
    let runsApp = text.info?.runsApp ?? true
    // The lane asks for its waking subjects first, if it asks for them at all.
    var (names, waking): ([TracedPart], Int) = ([], runsApp ? lane.pending.subjects.count : 0)
    let attempt = devices[device].lane.begin(
      isAlert: isAlert, folded: folded, runsApp: runsApp, overCourier: overCourier, at: now,
      policy: policy
    ) { subject in
      waking -= 1
      guard let part = naming.part(of: subject) else { return false }
      if waking >= 0, trace.isOn { names.append(part) }
      return true
    }
    guard let attempt else { return nil }
    traceWake(
      device, attempt, over: ready.route, shows: text.content.notification, names: names)
    let serial = devices.beginAttempt(for: device)
    return PushAttempt(
      id: PushAttempt.ID(partition: id, device: device, serial: serial), device: key(of: device),
      route: ready.route, wake: attempt.wake, address: devices[device].goal,
      intent: isAlert ? .alert : .background, expires: attempt.deadline + wallAhead,
      collapse: isAlert ? attempt.alert?.key.collapse : Self.backgroundCollapse,
      payload: payload.bytes)
  }

  /// Whether the wake that the lane needs over this route is an alert; `nil` if the lane needs
  /// none.
  private mutating func wanted(of ready: ReadyLane, at now: Instant) -> Bool? {
    let device = ready.device
    switch devices[device].lane.nextStep(at: now, stepped: stepped, folded: folded, policy: policy)
    {
    case .attempt(let isAlert): return route(of: device) == ready.route ? isAlert : nil
    case .tell(let isAlert): return courier(of: device) == ready.route ? isAlert : nil
    case .nothing, .timer, .fold: return nil
    }
  }

  /// All background wakes have this collapse id, so the provider keeps only a device's newest one.
  private static let backgroundCollapse = "zonerelay-background"

  private func text(
    of ready: ReadyLane, isAlert: Bool, _ owner: Users.Key, at now: Instant
  ) -> (WakeText, [Pending])? {
    let device = ready.device
    let lane = devices[device].lane
    var pending = lane.pending.tellable(folded)
    // A later message over the courier costs no budget. So a hot zone is left out until the lane's
    // slot comes, and a later message names it.
    if ready.isOverCourier, !isAlert { pending.waking.keep { !lane.isHeld($0, at: now) } }
    let zones = lane.zones(toldOf: pending, at: now, limits: limits)
    let hasQuery = pending.query.contains { lane.names($0) } || !pending.quiet.query.isEmpty
    let overflows = pending.overflow.contains { lane.names($0) } || !pending.quiet.overflow.isEmpty
    let shown: NotificationContent
    var info: NotificationInfo?
    var waits =
      lane.slot > now
      && (zones.named + pending.overflow.filter { lane.names($0) }
        + pending.query.filter { lane.names($0) } + pending.quiet.overflow + pending.quiet.query)
        .contains { lane.isWaiting($0, at: now) }
    if isAlert {
      guard let alert = pending.alerts.first?.shown(folded) else { return nil }
      waits = waits || alert.isHot
      shown = alert.content
      info = alert.look ?? self.info(of: alert.key, owner)
    } else {
      let subjects = pending.zones.filter { lane.names($0) } + pending.query + pending.overflow
      guard let newest = lane.newest(of: subjects, at: now) else { return nil }
      shown = newest.content
    }
    let resumed = lane.resumable(isAlert: isAlert, overCourier: ready.isOverCourier, at: now)
    let text = WakeText(
      scope: owner.scope, user: owner.user, wake: resumed?.wake ?? lane.nextWake, content: shown,
      info: info,
      subjects: zones.named.count + (hasQuery ? 1 : 0) + (overflows ? 1 : 0),
      zones: zones.named.map {
        WakeText.NamedZone(
          zone: $0.content.zone, database: $0.content.database,
          waits: lane.isWaiting($0, at: now))
      },
      hasQuery: hasQuery, isMore: overflows || zones.isCut || pending.lostAlerts,
      badge: info?.badges == true ? badge(of: device) : nil,
      notBefore: waits && lane.slot > now ? lane.slot : nil)
    return (text, zones.named)
  }

  /// The alert's appearance, from its subscription. The subscription still exists: when a
  /// subscription is removed, its alerts are withdrawn or have a look of their own.
  private func info(of key: AlertKey, _ owner: Users.Key) -> NotificationInfo {
    users.find(owner.user, in: owner.scope)
      .flatMap { index.find(key.subscription, key.database, of: $0) }?.subscription.info
      ?? NotificationInfo()
  }

  /// An attempt ended. A late or repeated verdict finds another serial and changes nothing. After a
  /// failure the lane backs off even if the attempt cost no budget, so that such attempts are not
  /// repeated without end.
  package mutating func ended(
    _ attempt: PushAttempt.ID, _ verdict: Verdict, at now: Instant, _ effects: inout [Effect]
  ) {
    let device = attempt.device
    guard let made = devices.endAttempt(attempt) else { return }
    let flight = trace.isOn ? devices[device].lane.flight : nil
    defer { traceEnded(device, flight, verdict, at: now) }
    devices[device].lane.ended(with: verdict, at: now)
    markDirty(device)
    if devices[device].lane.isOverCourier {
      return told(device, verdict, over: made.connection, at: now)
    }
    let account = devices.account(of: device)
    guard made.address == devices[device].address else {
      // The verdict is about an address that the device no longer has.
      devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
      return
    }
    switch verdict {
    case .delivered, .deliveredElsewhere:
      if verdict == .deliveredElsewhere {
        devices[device].lane.belongs(elsewhere: !made.isElsewhere)
      }
      delivered(device, at: now)
    case .later(let after, let blame, _):
      let until = blame == .recalled ? now : now + backoff(device, attempt, asked: after)
      // The push was not sent, or the provider refused the route. The device got no push.
      if blame == .unsent || blame == .route || blame == .recalled { devices[device].lane.regain() }
      devices[device].lane.postponed(
        until: until, isQuarantined: blame == .quarantine, limits: limits,
        ledger: &ledgers[account])
    case .gone(let since, let reason):
      guard devices[device].isDead(by: made, since: since) else {
        devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
        return
      }
      retire(device, because: reason.text, since: since, at: now, &effects)
    case .tooLarge where !made.isCutDown:
      devices.cutDown(device)
      devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
    case .rejected, .tooLarge:
      devices[device].lane.rejected(
        at: now, policy: policy, limits: limits, ledger: &ledgers[account])
    }
  }

  /// The device that a verdict is about. If the device is not registered any more, its address
  /// counts as one for which no push was accepted.
  package func subject(of attempt: PushAttempt) -> Pruning.Subject {
    let hasTaken = devices.attempt(attempt.id).map { made in
      let slot = devices[attempt.id.device]
      return made.address == slot.address && slot.lane.hasTaken
    }
    return Pruning.Subject(
      user: attempt.device.user, client: attempt.device.client, hasTaken: hasTaken ?? false)
  }

  /// The verdict that the relay believes. A report that an address is dead does not count if the
  /// report's date is before the registration; the device is then tried again later. Even many such
  /// reports do not show that our configuration is wrong.
  package func believed(_ verdict: Verdict, of attempt: PushAttempt.ID) -> Verdict {
    guard case .gone(let since?, let reason) = verdict, let made = devices.attempt(attempt),
      made.registration == devices[attempt.device].registration,
      since <= devices[attempt.device].registeredAt
    else { return verdict }
    return .later(after: nil, .device, reason)
  }

  /// The delay until the next try. It doubles with each try up to `retryMax`, and a hash varies it
  /// by ±20 %, so that devices that failed in one outage are not all tried at one time. If the
  /// provider asked for a longer delay, that delay applies.
  private func backoff(_ device: Int, _ attempt: PushAttempt.ID, asked: Span?) -> Span {
    guard case .inFlight(let flight) = devices[device].lane.state else { return policy.retryFirst }
    let doubled = policy.retryFirst * (1 << Int64(min(flight.tries - 1, 30)))
    let base = min(doubled, policy.retryMax)
    var hash = devices[device].client.bits.low ^ UInt64(flight.wake) << 32 ^ attempt.serial
    hash = (hash ^ hash >> 31) &* 0x9e37_79b9_7f4a_7c15
    let percent = 80 + Int64((hash >> 40) % 41)
    let jittered = Span(milliseconds: base.milliseconds / 100 * percent + base.milliseconds % 100)
    return max(jittered, asked ?? .zero)
  }
}

/// Which subjects of a lane a payload names.
private struct WakeNaming {
  let lane: Lane
  let text: WakeText
  /// The zones in the payload.
  let places: Set<WakeText.NamedZone>
  let folded: Ordinal
  let overCourier: Bool
  let at: Instant

  /// The part of the lane that the subject is; `nil` if the payload does not name it.
  func part(of subject: Pending) -> TracedPart? {
    guard subject.isTellable(folded), !(overCourier && lane.isHeld(subject, at: at)) else {
      return nil
    }
    let (waking, quiet) = (lane.pending.waking, lane.pending.quiet)
    if (waking.overflow + quiet.overflow).contains(subject) { return text.isMore ? .many : nil }
    if (waking.query + quiet.query).contains(subject) { return text.hasQuery ? .query : nil }
    return places.contains(subject.content.place) ? subject.zonePart : nil
  }
}

extension Devices.Slot {
  /// The address for a push, with the environment that accepts pushes for the token.
  var goal: Address {
    guard lane.isElsewhere else { return address }
    var goal = address
    goal.environment = address.environment?.other
    return goal
  }

  /// Whether the device's address is dead. A provider's report counts only for the registration
  /// that it was about. If the report has a date, the date must be later than the registration.
  func isDead(by attempt: Devices.Attempt, since: Instant?) -> Bool {
    guard attempt.registration == registration else { return false }
    return since.map { $0 > registeredAt } ?? true
  }
}

extension NotificationContent {
  /// The zone, and the database in which the device sees it.
  var place: WakeText.NamedZone { WakeText.NamedZone(zone: zone, database: database) }
}
