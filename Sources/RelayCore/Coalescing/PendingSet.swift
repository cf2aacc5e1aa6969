/// What a device has not been told or has not acknowledged. State, never a queue of messages: its
/// size is bounded whatever happens (P6).
package struct PendingSet: Hashable, Sendable {
  /// What a wake that runs the app is to tell, or has told and the device has not acknowledged.
  package var waking = Subjects()
  /// What alerts told that do not run the app. Every wake names it until the device acknowledges
  /// it, and none goes out for its sake.
  package var quiet = Subjects()
  /// At most `Limits.alertsPending`, oldest first; the one in flight is not among them.
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

  package var deliveries: Int { alerts.count + waking.deliveries }

  /// A zone, database or query notification pends what it says, shown to a person or not. An
  /// alert's delivery is counted once, with the alert.
  ///
  /// - Returns: true if the delivery is new on this lane, false if it merged.
  mutating func add(_ match: Match, limits: Limits) -> Bool {
    guard let key = match.alert else { return waking.add(match, limits: limits) }
    if match.runsApp {
      _ = waking.add(match, limits: limits)
    } else {
      _ = quiet.add(match, limits: limits)
    }
    return add(key, match, limits: limits)
  }

  private mutating func add(_ key: AlertKey, _ match: Match, limits: Limits) -> Bool {
    let alert = PendingAlert(
      key: key, notice: match.notice, position: match.position, zonePosition: match.zonePosition,
      look: match.look, isHot: match.isHot)
    if let index = alerts.firstIndex(where: { $0.key == key }) {
      alerts[index] = alert
      return false
    }
    guard alerts.count >= limits.alertsPending else {
      alerts.append(alert)
      return true
    }
    alerts.removeFirst()
    alerts.append(alert)
    lostAlerts = true
    return false
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
