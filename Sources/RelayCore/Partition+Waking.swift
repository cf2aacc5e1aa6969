/// When devices are woken, and with which push.
extension Partition {
  /// Evaluates lanes that had an input, and those whose timer is due.
  ///
  /// - Returns: lanes that may be woken now, without those that wait in their route's queue
  ///   already.
  package mutating func ready(at now: Instant) -> [ReadyLane] {
    var ready: [ReadyLane] = []
    for device in wakes.takeDue(at: now) where devices.contains(device) {
      evaluate(device, at: now, &ready)
    }
    return ready
  }

  /// Marks lanes after the rules have changed, so that the next `ready` evaluates these lanes.
  ///
  /// - Returns: how many slots were looked at.
  mutating func markOutdated(atMost count: Int) -> Int {
    wakes.markOutdated(atMost: count, in: devices)
  }

  /// A lane had an input. The next cut writes the lane, and the next `ready` evaluates it.
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

  /// Begins an attempt for a lane whose route has room now. Each attempt gets a new payload, from
  /// what still pends on the lane.
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
    // Since the lane joined the queue, the device may have moved to another route, or another
    // device may have got the device number.
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
      trace(.hushed(told.content.alert, part), of: device, at: now)
      return nil
    }
    let naming = WakeNaming(
      lane: lane, text: text, places: Set(listed.prefix(payload.zonesNamed).map(\.content.place)),
      folded: folded, overCourier: overCourier, at: now)
    let runsApp = text.info?.runsApp ?? true
    // The lane calls the closure for its waking subjects first, if the wake runs the app, and then
    // for its quiet subjects. The trace names only the waking subjects.
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
    traceWake(device, attempt, over: ready.route, shows: text.content, names: names)
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
    var pending = lane.pending.toTell(folded)
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

  /// The appearance of an alert without a `look`, from the alert's subscription. The subscription
  /// still exists: when a subscription is removed, its alerts are withdrawn or have a `look`.
  private func info(of key: AlertKey, _ owner: Users.Key) -> NotificationInfo {
    users.find(owner.user, in: owner.scope)
      .flatMap { index.find(key.subscription, key.database, of: $0) }?.subscription.info
      ?? NotificationInfo()
  }
}
