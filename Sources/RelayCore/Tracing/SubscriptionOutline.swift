/// A subscription without the values of its filters.
package struct SubscriptionOutline: Hashable, Sendable {
  package var id: SubscriptionID
  package var database: Database
  /// The fact that first saved the subscription. Only later changes fire it.
  package var since: Ordinal
  package var rule: Rule

  package enum Rule: Hashable, Sendable {
    case query(recordType: String, zone: ZoneID?, QueryRule.Firing, hasFilters: Bool)
    case zone(ZoneID, recordType: String?)
    case database(recordType: String?)
  }
}

extension SubscriptionOutline {
  init(_ held: SubscriptionIndex.Held) {
    let subscription = held.subscription
    let rule: Rule =
      switch subscription.rule {
      case .query(let query):
        .query(
          recordType: query.recordType, zone: query.zone, query.firesOn,
          hasFilters: !query.filters.isEmpty)
      case .zone(let zone, let type): .zone(zone, recordType: type)
      case .database(let type): .database(recordType: type)
      }
    self.init(
      id: subscription.id, database: subscription.database, since: held.serial.ordinal, rule: rule)
  }

  /// Whether the subscription is for this database and for the change's zone and record type. If
  /// such a subscription did not fire, its filters or its list of events excluded the change.
  ///
  /// - Parameter database: the database in which the subscription's user sees the zone.
  func covers(_ change: TracedChange, in database: Database) -> Bool {
    guard self.database == database else { return false }
    var type: String?
    if case .record(let record) = change.event { type = record.type }
    func concerns(_ limit: String?) -> Bool {
      guard let limit, let type else { return true }
      return ByteOrdered.areSame(limit, type)
    }
    switch rule {
    case .query(let recordType, let zone, _, _):
      return type != nil && concerns(recordType) && zone.map { $0 == change.zone } ?? true
    case .zone(let zone, let limit): return zone == change.zone && concerns(limit)
    case .database(let limit): return !change.zone.isDefault && concerns(limit)
    }
  }
}
