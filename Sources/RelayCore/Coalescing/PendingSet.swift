/// What a device has not been told or has not acknowledged. The set is state and not a queue of
/// messages, so its size is always bounded (P6).
package struct PendingSet: Hashable, Sendable {
  /// Subjects for wakes that run the app: not told yet, or told and not acknowledged.
  package var waking = Subjects()
  /// Subjects of alerts that do not run the app. Every wake names them until the device
  /// acknowledges them, and no wake is sent for them alone.
  package var quiet = Subjects()
  /// The alerts that wait, oldest first, without the alert in flight: at most
  /// `Limits.alertsPending`. Each key has one alert here, which holds the earlier alerts of that
  /// key.
  package var alerts: [PendingAlert] = []
  /// Whether waiting alerts were dropped because there were too many.
  package var lostAlerts = false

  package init() {}

  package var zones: [Pending] { waking.zones }
  package var query: [Pending] { waking.query }
  package var overflow: [Pending] { waking.overflow }
  package var subjects: [Pending] { waking.all }

  /// Whether nothing waits to be told or acknowledged. Later wakes may still name quiet subjects.
  package var isEmpty: Bool { waking.isEmpty && alerts.isEmpty }

  /// Whether a background wake is needed, because a subject has a change that no wake covers yet.
  package var isFresh: Bool { subjects.contains { $0.isFresh } }

  /// Whether a fresh subject is urgent and may use the reserved share of the budget.
  var isUrgent: Bool { subjects.contains { $0.isFresh && $0.isUrgent } }

  /// Whether a fresh subject is folded, so that a wake may name it.
  func mayBeTold(_ folded: Ordinal) -> Bool {
    subjects.contains { $0.isFresh && $0.mayBeTold(folded) }
  }

  /// The set with folded subjects only, which a device that reads at once finds (P4).
  func toTell(_ folded: Ordinal) -> PendingSet {
    var told = self
    told.waking.keep { $0.mayBeTold(folded) }
    told.quiet.keep { $0.mayBeTold(folded) }
    return told
  }

  package var deliveries: Int {
    alerts.reduce(waking.deliveries) { $0 + $1.deliveries }
  }

  /// Adds a notification of a zone, database or query, with or without an alert. An alert's
  /// delivery is counted once, with the alert.
  ///
  /// - Parameter cut: the last fact in a cut. An alert up to that fact is kept when a newer alert
  ///   comes.
  /// - Returns: how many deliveries were added: 1 if the delivery is new in this set, 0 if it
  ///   merged into another delivery, negative if it replaced several deliveries.
  mutating func add(_ match: Match, cut: Ordinal, limits: Limits) -> Int {
    guard let key = match.alert else { return waking.add(match, limits: limits) ? 1 : 0 }
    if match.runsApp {
      _ = waking.add(match, limits: limits)
    } else {
      _ = quiet.add(match, limits: limits)
    }
    return add(key, match, cut: cut, limits: limits)
  }

  private mutating func add(
    _ key: AlertKey, _ match: Match, cut: Ordinal, limits: Limits
  ) -> Int {
    let alert = PendingAlert(
      key: key, content: match.content, position: match.position, zonePosition: match.zonePosition,
      look: match.look, isHot: match.isHot)
    if let index = alerts.firstIndex(where: { $0.key == key }) {
      let before = alerts[index].deliveries
      alerts[index] = alerts[index].followed(by: alert, cut: cut)
      return alerts[index].deliveries - before
    }
    guard alerts.count >= limits.alertsPending else {
      alerts.append(alert)
      return 1
    }
    let lost = alerts.removeFirst()
    alerts.append(alert)
    lostAlerts = true
    return 1 - lost.deliveries
  }

  /// Removes the first alert and returns its newest folded form. If a newer alert of the same key
  /// is not folded, that alert then waits behind all other alerts.
  ///
  /// - Returns: the alert to show, and whether a newer alert waits; `nil` if no alert waits, or no
  ///   alert with the first alert's key is folded.
  mutating func takeAlert(_ folded: Ordinal) -> (shown: PendingAlert, isFollowed: Bool)? {
    guard let first = alerts.first, let shown = first.shown(folded) else { return nil }
    alerts.removeFirst()
    let isFollowed = first.position > shown.position
    if isFollowed { alerts.append(first.alone) }
    return (shown, isFollowed)
  }

  /// - Returns: how many deliveries were removed because a newer delivery of the same subject is
  ///   folded.
  mutating func folded(to folded: Ordinal) -> Int {
    var count = 0
    for index in alerts.indices where alerts[index].deliveries > 1 {
      alerts[index].folded(to: folded)
      count += 2 - alerts[index].deliveries
    }
    return count
  }

  /// - Returns: how many deliveries were removed.
  mutating func cancelAlerts(
    withEarlier: Bool, _ isMeant: (PendingAlert) -> Bool
  ) -> Int {
    let before = alerts.reduce(0) { $0 + $1.deliveries }
    alerts = alerts.compactMap { $0.without(withEarlier: withEarlier, isMeant) }
    return alerts.reduce(before) { $0 - $1.deliveries }
  }

  /// - Returns: how many deliveries were removed; alerts are not among them.
  mutating func withdraw(_ withdrawal: Withdrawal) -> Int {
    waking.withdraw(withdrawal) + quiet.withdraw(withdrawal)
  }

  /// The device has read a zone up to `position`.
  ///
  /// - Returns: how many deliveries were removed.
  mutating func acknowledge(
    _ zone: ZoneID, _ database: Database, _ position: Position
  ) -> Int {
    waking.acknowledge(zone, database, position) + quiet.acknowledge(zone, database, position)
  }

  /// The device has read the notifications feed up to `position`. This feed contains every subject.
  ///
  /// - Returns: how many deliveries were removed; alerts are not among them.
  mutating func acknowledge(notifications position: Position) -> Int {
    var count = 0
    waking.keep { subject in
      guard subject.position <= position else { return true }
      count += subject.deliveries
      return false
    }
    quiet.keep { $0.position > position }
    return count
  }
}
