/// The entries of what happens to devices. They are made only while the trace is on.
extension Partition {
  mutating func trace(_ event: consuming DeviceEvent, of device: Int, at now: Instant) {
    guard trace.isOn else { return }
    write(of: device, at: now) { $0.write(event) }
  }

  /// - Parameter body: writes what happened to the device.
  private mutating func write(
    of device: Int, at now: Instant, _ body: (inout EntryWriter) -> Void
  ) {
    let (owner, client) = (users[devices[device].user], devices[device].client)
    trace.write(in: owner.scope, at: now) { writer in
      writer.beginDevice(client, of: owner.user, at: now)
      body(&writer)
    }
  }

  /// The device was registered, for the first time or again.
  mutating func traceRegistered(_ device: Int, isNew: Bool, _ step: Step) {
    guard trace.isOn else { return }
    let address = devices[device].address
    trace(
      .registered(address.transport, topic: address.topic, step.ordinal, isNew: isNew), of: device,
      at: step.at)
  }

  /// The lane was evaluated. Only a wait that no other entry states makes an entry: the entry of
  /// the match states the window, and the entry of the verdict states a rest.
  mutating func trace(_ next: Lane.NextStep, of device: Int, at now: Instant) {
    guard trace.isOn else { return }
    switch next {
    case .timer(let until, let wait) where wait.isTraced:
      if trace.waits(device, for: .time(wait)) {
        trace(.waits(wait, until: until), of: device, at: now)
      }
    case .nothing where devices[device].lane.isUnreachable:
      if trace.waits(device, for: .connection) { trace(.waitsForConnection, of: device, at: now) }
    case .fold: trace.waitsForFold(device)
    case .nothing, .timer, .attempt, .tell: _ = trace.waits(device, for: nil)
    }
  }

  /// An attempt began.
  ///
  /// - Parameter names: what the payload names.
  mutating func traceWake(
    _ device: Int, _ attempt: Lane.Attempt, over route: RouteKey, shows: NotificationContent,
    names: [TracedPart]
  ) {
    guard trace.isOn else { return }
    let cause: TracedWake.Cause =
      attempt.isRepeat ? .fallback : attempt.isLadder ? .ladder : .news
    let wake = TracedWake(
      number: attempt.wake, transport: route.transport, topic: route.topic,
      runsApp: attempt.runsApp, shows: shows.notification,
      alertOf: attempt.isAlert ? shows.subscription : nil,
      names: attempt.runsApp ? names : [], tries: attempt.tries, cause: cause)
    write(of: device, at: attempt.at) { $0.write(wake) }
  }

  /// The attempt that was `flight` has ended, and the lane has taken the verdict.
  mutating func traceEnded(
    _ device: Int, _ flight: Lane.Attempt?, _ verdict: Verdict, at now: Instant
  ) {
    guard trace.isOn, let flight else { return }
    let end = devices[device].lane.traced(verdict, after: flight)
    write(of: device, at: now) { $0.write(end) }
  }

  /// The device proved what it has. The receipt makes an entry only if it may end something that
  /// pends, or if the device has acknowledged nothing before: the lane of such a device forgets
  /// what a delivered wake has told.
  mutating func trace(_ receipt: TracedReceipt, of device: Int, at now: Instant) {
    guard trace.isOn, let brief = devices[device].lane.brief(receipt) else { return }
    trace(.receipt(brief), of: device, at: now)
  }
}

extension Lane {
  /// Whether something pends, or an alert is on its way.
  var holdsAnything: Bool {
    !pending.isEmpty || !pending.quiet.isEmpty || flight?.alert != nil
  }

  /// How the attempt that was `flight` has ended.
  func traced(_ verdict: Verdict, after flight: Attempt) -> TracedVerdict {
    var rests: Instant?
    if case .resting(let rest) = state { rests = rest.until }
    let dropsAlert =
      flight.alert.map { shown in
        !verdict.isDelivered && retirement == nil
          && !pending.alerts.contains { $0.key == shown.key }
      } ?? false
    return TracedVerdict(
      wake: flight.wake, verdict: verdict, rests: rests, dropsAlert: dropsAlert)
  }

  /// The receipt with only the names that concern what pends; `nil` if the receipt changes no
  /// explanation.
  fileprivate func brief(_ receipt: TracedReceipt) -> TracedReceipt? {
    holdsAnything || !hasAcknowledged ? receipt.brief(for: self) : nil
  }

  /// Whether something waits to be told, and neither a provider nor the courier reaches the device.
  var isUnreachable: Bool {
    guard !reach.hasProvider, !reach.isHere else { return false }
    switch state {
    case .due, .resting: return pending.isFresh || !pending.alerts.isEmpty
    case .idle, .gathering, .inFlight, .watching, .retired: return false
    }
  }
}

extension Lane.Wait {
  /// Whether a wait of this kind makes an entry when it begins.
  fileprivate var isTraced: Bool {
    switch self {
    case .alertBudget, .backgroundBudget, .slot, .nextPoll: true
    case .window, .rest, .acknowledgement: false
    }
  }
}

extension Verdict {
  var isDelivered: Bool {
    switch self {
    case .delivered, .deliveredElsewhere: true
    case .later, .gone, .rejected, .tooLarge: false
    }
  }
}

extension TracedReceipt {
  /// The receipt with only the names that concern what pends on the lane, or the lane's alert in
  /// flight. If the device has acknowledged nothing before, a list of zones keeps all names.
  fileprivate func brief(for lane: Lane) -> TracedReceipt {
    switch self {
    case .acknowledged(.listed(let zones, let database)):
      guard lane.hasAcknowledged else { return self }
      let pending = Set(lane.pending.subjects.map(\.content.zone))
      return .acknowledged(.listed(zones.filter { pending.contains($0) }, database))
    case .marked(let notifications):
      var alerts = Set(lane.pending.alerts.map(\.content.notification))
      if let shown = lane.flight?.alert { alerts.insert(shown.content.notification) }
      return .marked(notifications.filter { alerts.contains($0) })
    case .acknowledged, .connected: return self
    }
  }
}
