/// What a device has not been told or has not acknowledged. State, never a queue of messages: its
/// size is bounded whatever happens (P6, L7).
package struct PendingSet: Hashable, Sendable {
  /// At most `Limits.zonesPending`, in order of their first match.
  package var zones: [Pending] = []
  /// The notifications feed, for query notifications; at most one.
  package var query: [Pending] = []
  /// Zones beyond the limit, as one subject; at most one.
  package var overflow: [Pending] = []
  /// At most `Limits.alertsPending`, oldest first; the one in flight is not among them.
  package var alerts: [PendingAlert] = []
  /// Alerts were replaced because there were too many.
  package var lostAlerts = false

  package init() {}

  package var isEmpty: Bool {
    zones.isEmpty && query.isEmpty && overflow.isEmpty && alerts.isEmpty
  }

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
    told.keep { $0.isTellable(folded) }
    return told
  }

  package var subjects: [Pending] { zones + query + overflow }

  package var deliveries: Int {
    alerts.count + zones.reduce(0) { $0 + $1.deliveries }
      + query.reduce(0) { $0 + $1.deliveries } + overflow.reduce(0) { $0 + $1.deliveries }
  }

  package var latest: Position {
    (subjects.map(\.position) + alerts.map(\.position)).max() ?? .zero
  }

  /// - Returns: true if the delivery is new on this lane, false if it merged.
  mutating func add(_ match: Match, limits: Limits) -> Bool {
    if let key = match.alert { return add(key, match, limits: limits) }
    if case .query = match.notice.kind { return Self.add(match, to: &query) }
    let index = zones.firstIndex {
      $0.notice.zone == match.notice.zone && $0.notice.database == match.notice.database
    }
    if let index { return zones[index].add(match) }
    if zones.count >= limits.zonesPending { return Self.add(match, to: &overflow) }
    zones.append(Pending(match))
    return true
  }

  private static func add(_ match: Match, to subject: inout [Pending]) -> Bool {
    if !subject.isEmpty { return subject[0].add(match) }
    subject.append(Pending(match))
    return true
  }

  private mutating func add(_ key: AlertKey, _ match: Match, limits: Limits) -> Bool {
    let alert = PendingAlert(
      key: key, notice: match.notice, position: match.position, look: match.look,
      isHot: match.isHot)
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

  /// Applies `change` to every subject and drops those it returns false for.
  mutating func keep(_ change: (inout Pending) -> Bool) {
    Self.keep(&zones, change)
    Self.keep(&query, change)
    Self.keep(&overflow, change)
  }

  private static func keep(_ subjects: inout [Pending], _ change: (inout Pending) -> Bool) {
    for index in subjects.indices.reversed() where !change(&subjects[index]) {
      subjects.remove(at: index)
    }
  }

  /// Drops what was withdrawn. A subject that stands for several things stays when one of them
  /// goes, for the others must still wake (P5), but shows nothing of it any more (P9).
  ///
  /// - Returns: how many deliveries went.
  mutating func withdraw(_ withdrawal: Withdrawal) -> Int {
    var count = 0
    let isZone = if case .zone = withdrawal { true } else { false }
    Self.keep(&zones) { subject in
      guard withdrawal.means(subject.notice), isZone || !subject.isMixed else { return true }
      count += subject.deliveries
      return false
    }
    let keepMany: (inout Pending) -> Bool = { subject in
      guard withdrawal.means(subject.notice) else { return true }
      guard !subject.isMixed else {
        subject.notice = subject.notice.neutral
        return true
      }
      count += subject.deliveries
      return false
    }
    Self.keep(&query, keepMany)
    Self.keep(&overflow, keepMany)
    return count
  }

  /// The device knows a zone up to here. Of many zones in one subject it knows one: they stay.
  ///
  /// - Returns: how many deliveries went.
  mutating func acknowledge(
    _ zone: ZoneID, _ database: Database, _ position: Position
  ) -> Int {
    var count = 0
    let isReached: (Pending) -> Bool = {
      $0.notice.zone == zone && $0.notice.database == database && $0.zonePosition <= position
    }
    Self.keep(&zones) { subject in
      guard isReached(subject) else { return true }
      count += subject.deliveries
      return false
    }
    Self.keep(&overflow) { subject in
      guard isReached(subject), !subject.isMixed || subject.deliveries == 0 else { return true }
      count += subject.deliveries
      return false
    }
    return count
  }
}
