/// The entries of a change's way to the devices. They are made only while the trace is on.
extension Partition {
  mutating func traceTaken(_ change: Change, applies: Bool, _ step: Step) {
    guard trace.isOn else { return }
    let place = FactPlace(partition: id, ordinal: step.ordinal)
    let isReplayed = trace.isReplaying
    trace.write(in: change.scope, at: step.at) { writer in
      writer.write(
        change, at: place, isSuperseded: !applies, isReplayed: isReplayed, at: step.at)
    }
  }

  mutating func trace(
    _ move: TracedMove.Step, of change: Change, from ordinal: Ordinal, at now: Instant
  ) {
    guard trace.isOn else { return }
    trace.add(
      .moved(
        TracedMove(
          notification: change.notification, scope: change.scope,
          place: FactPlace(partition: id, ordinal: ordinal), step: move)), at: now)
  }

  mutating func trace(
    _ match: Match, to user: Int, _ devices: [TracedMatch.Device], _ change: Change, _ step: Step
  ) {
    guard !devices.isEmpty else { return }
    let key = users[user]
    trace.write(in: key.scope, at: step.at) { writer in
      let content = match.content
      writer.write(
        change.notification, to: key.user, by: content.subscription, content.database,
        content.zone, at: match.position, match.zonePosition, devices, at: step.at)
    }
  }

  mutating func trace(
    saved held: SubscriptionIndex.Held, before: SubscriptionIndex.Held?, of user: Int,
    _ step: Step
  ) {
    guard trace.isOn else { return }
    trace(
      .subscribed(
        SubscriptionOutline(held), before: before.map { SubscriptionOutline($0) }, step.ordinal),
      of: user, at: step.at)
  }

  mutating func trace(_ event: UserEvent, of user: Int, at now: Instant) {
    guard trace.isOn else { return }
    trace.add(.user(users[user], event), at: now)
  }
}

extension Lane {
  /// The older alerts, waiting or in flight, that give way to this match's alert, so that no later
  /// wake shows them.
  func givesWay(to match: Match, limits: Limits) -> TracedMatch.Instead {
    var older = TracedMatch.Instead()
    guard let key = match.alert else { return older }
    if let same = pending.alerts.first(where: { $0.key == key }) {
      older.replaced = same.content.alert
      return older
    }
    // If the attempt fails, the alert that the attempt shows gives way to the alert of this match.
    if let shown = flight?.alert, shown.key == key { older.replaced = shown.content.alert }
    if pending.alerts.count >= limits.alertsPending, let first = pending.alerts.first {
      older.crowdedOut = first.content.alert
      older.left = pending.waking.part(of: first)
    }
    return older
  }

  /// What a match has done to the lane, which is not retired.
  func outcome(of match: Match, instead: TracedMatch.Instead) -> TracedMatch.Outcome {
    var gathers: Instant?
    if case .gathering(_, let due) = state { gathers = due }
    return .pends(part(of: match), gathers: gathers, instead: instead)
  }

  /// The part of the lane where this match pends.
  func part(of match: Match) -> TracedPart {
    if match.alert != nil { return .alert(match.content.alert) }
    return part(of: match.content)
  }

  /// The part of `pending.waking` where this content pends without an alert.
  func part(of content: NotificationContent) -> TracedPart {
    if case .query = content.kind { return .query }
    // Without an overflow every zone that pends has a subject of its own.
    let isNamed =
      pending.waking.overflow.isEmpty || pending.waking.zoneIndex(of: content) != nil
    return isNamed ? .zone(content.zone, content.database) : .many
  }

  /// The attempt under way.
  var flight: Attempt? {
    if case .inFlight(let attempt) = state { return attempt }
    return nil
  }
}
