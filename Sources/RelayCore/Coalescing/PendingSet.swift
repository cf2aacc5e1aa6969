/// What a device has not been told or has not acknowledged. State, never a queue of messages: its
/// size is bounded whatever happens (P6).
package struct PendingSet: Hashable, Sendable {
  /// What a wake that runs the app is to tell, or has told and the device has not acknowledged.
  package var waking = Subjects()
  /// What alerts told that do not run the app. Every wake names it until the device acknowledges
  /// it, and none goes out for its sake.
  package var quiet = Subjects()
  /// At most `Limits.alertsPending`, oldest first; the one in flight is not among them. Of each
  /// subject one, with what it came after.
  package var alerts: [PendingAlert] = []
  /// Alerts were replaced because there were too many.
  package var lostAlerts = false

  package init() {}

  package var zones: [Pending] { waking.zones }
  package var query: [Pending] { waking.query }
  package var overflow: [Pending] { waking.overflow }
  package var subjects: [Pending] { waking.all }

  /// Nothing waits to be told or acknowledged; later wakes may still name what is quiet.
  package var isEmpty: Bool { waking.isEmpty && alerts.isEmpty }

  /// Something that no delivered or running wake covers, for a background wake.
  package var isFresh: Bool { subjects.contains { $0.isFresh } }

  /// Something urgent is among it: the reserved share of the budget is for that.
  var isUrgent: Bool { subjects.contains { $0.isFresh && $0.isUrgent } }

  /// The same as `isFresh`, as far as it is folded.
  func isTellable(_ folded: Ordinal) -> Bool {
    subjects.contains { $0.isFresh && $0.isTellable(folded) }
  }

  /// Without what a reader who comes at once would not find (P4).
  func tellable(_ folded: Ordinal) -> PendingSet {
    var told = self
    told.waking.keep { $0.isTellable(folded) }
    told.quiet.keep { $0.isTellable(folded) }
    return told
  }

  package var deliveries: Int {
    alerts.reduce(waking.deliveries) { $0 + $1.deliveries }
  }

  /// A zone, database or query notification pends what it says, shown to a person or not. An
  /// alert's delivery is counted once, with the alert.
  ///
  /// - Parameter cut: the last fact that a cut has: what stands there of an alert is kept when a
  ///   newer one comes.
  /// - Returns: how many deliveries more there are than before: 1 if it is new on this lane, 0 if
  ///   it merged, less if several gave way to it.
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
      key: key, notice: match.notice, position: match.position, zonePosition: match.zonePosition,
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

  /// The next alert, as far as it is folded. What came after it waits behind all others.
  ///
  /// - Returns: and whether something did; nil if a reader would not find anything of it.
  mutating func takeAlert(_ folded: Ordinal) -> (shown: PendingAlert, isFollowed: Bool)? {
    guard let first = alerts.first, let shown = first.shown(folded) else { return nil }
    alerts.removeFirst()
    let isFollowed = first.position > shown.position
    if isFollowed { alerts.append(first.alone) }
    return (shown, isFollowed)
  }

  /// - Returns: how many deliveries went, for a newer one of their subject is folded.
  mutating func folded(to folded: Ordinal) -> Int {
    var count = 0
    for index in alerts.indices where alerts[index].deliveries > 1 {
      alerts[index].folded(to: folded)
      count += 2 - alerts[index].deliveries
    }
    return count
  }

  /// - Returns: how many deliveries went.
  mutating func cancelAlerts(
    withEarlier: Bool, _ isMeant: (PendingAlert) -> Bool
  ) -> Int {
    let before = alerts.reduce(0) { $0 + $1.deliveries }
    alerts = alerts.compactMap { $0.without(withEarlier: withEarlier, isMeant) }
    return alerts.reduce(before) { $0 - $1.deliveries }
  }

  /// - Returns: how many deliveries went; alerts are not among them.
  mutating func withdraw(_ withdrawal: Withdrawal) -> Int {
    waking.withdraw(withdrawal) + quiet.withdraw(withdrawal)
  }

  /// The device knows a zone up to here.
  ///
  /// - Returns: how many deliveries went.
  mutating func acknowledge(
    _ zone: ZoneID, _ database: Database, _ position: Position
  ) -> Int {
    waking.acknowledge(zone, database, position) + quiet.acknowledge(zone, database, position)
  }

  /// The notifications feed was read up to here: every subject stands in it.
  ///
  /// - Returns: how many deliveries went; alerts are not among them.
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
