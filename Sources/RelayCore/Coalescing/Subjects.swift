/// What a device has to fetch: zones and the notifications feed, one subject each. The number of
/// subjects is always bounded.
package struct Subjects: Hashable, Sendable {
  /// At most `Limits.zonesPending` zones, in the order of their first match.
  package var zones: [Pending] = []
  /// The notifications feed, for query notifications; at most one subject.
  package var query: [Pending] = []
  /// The zones beyond the limit, as at most one subject.
  package var overflow: [Pending] = []

  package init() {}

  package var all: [Pending] { zones + query + overflow }
  package var isEmpty: Bool { zones.isEmpty && query.isEmpty && overflow.isEmpty }
  package var deliveries: Int { all.reduce(0) { $0 + $1.deliveries } }

  /// - Returns: true if the delivery is new in this set, false if it merged into a waiting
  ///   delivery.
  mutating func add(_ match: Match, limits: Limits) -> Bool {
    if case .query = match.content.kind { return Self.add(match, to: &query) }
    if let index = zoneIndex(of: match.content) { return zones[index].add(match) }
    if zones.count >= limits.zonesPending { return Self.add(match, to: &overflow) }
    zones.append(Pending(match))
    return true
  }

  /// The index in `zones` of the zone that `content` names; `nil` if the zone has no subject of its
  /// own.
  func zoneIndex(of content: NotificationContent) -> Int? {
    // The search goes by index: a search over the elements would copy every subject.
    zones.indices.first {
      zones[$0].content.database == content.database && zones[$0].content.zone == content.zone
    }
  }

  private static func add(_ match: Match, to subject: inout [Pending]) -> Bool {
    if !subject.isEmpty { return subject[0].add(match) }
    subject.append(Pending(match))
    return true
  }

  /// Applies `change` to every subject, and removes the subjects for which `change` returns false.
  mutating func keep(_ change: (inout Pending) -> Bool) {
    Self.keep(&zones, change)
    Self.keep(&query, change)
    Self.keep(&overflow, change)
  }

  /// Applies `change` to every subject.
  mutating func changeAll(_ change: (inout Pending) -> Void) {
    keep { subject in
      change(&subject)
      return true
    }
  }

  private static func keep(_ subjects: inout [Pending], _ change: (inout Pending) -> Bool) {
    for index in subjects.indices.reversed() where !change(&subjects[index]) {
      subjects.remove(at: index)
    }
  }

  /// Removes withdrawn subjects. A subject that stands for several things stays when one of them is
  /// withdrawn, because the others must still be told (P5). If the query or overflow subject showed
  /// what is withdrawn, it shows a neutral form from then on (P9).
  ///
  /// - Returns: how many deliveries were removed.
  mutating func withdraw(_ withdrawal: Withdrawal) -> Int {
    let isZone = if case .zone = withdrawal { true } else { false }
    var count = Self.drop(&zones) { withdrawal.means($0.content) && (isZone || !$0.isMixed) }
    let keepMany: (inout Pending) -> Bool = { subject in
      guard withdrawal.means(subject.content) else { return true }
      guard !subject.isMixed else {
        subject.content = subject.content.neutral
        return true
      }
      count += subject.deliveries
      return false
    }
    Self.keep(&query, keepMany)
    Self.keep(&overflow, keepMany)
    return count
  }

  /// The device has read a zone up to `position`. An untold subject for many zones stays, because
  /// the device has read only one of these zones.
  ///
  /// - Returns: how many deliveries were removed.
  mutating func acknowledge(
    _ zone: ZoneID, _ database: Database, _ position: Position
  ) -> Int {
    let isReached: (Pending) -> Bool = {
      $0.content.zone == zone && $0.content.database == database && $0.zonePosition <= position
    }
    return Self.drop(&zones, where: isReached)
      + Self.drop(&overflow) { isReached($0) && (!$0.isMixed || !$0.isUntold) }
  }

  /// - Returns: how many deliveries were removed.
  private static func drop(
    _ subjects: inout [Pending], where isOver: (Pending) -> Bool
  ) -> Int {
    let count = subjects.reduce(0) { isOver($1) ? $0 + $1.deliveries : $0 }
    subjects.removeAll(where: isOver)
    return count
  }
}
