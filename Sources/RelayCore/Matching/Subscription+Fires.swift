extension Subscription {
  /// Whether a change fires this subscription. The change must be in the subscription's database.
  package func fires(for change: Change) -> Bool {
    var reading = ChangeReading(change)
    return fires(for: &reading)
  }

  /// Whether a prepared change, which many subscriptions share, fires this subscription.
  func fires(for reading: inout ChangeReading) -> Bool {
    reading.spend(1)
    switch rule {
    case .query(let rule): return rule.fires(for: &reading)
    case .zone(let zone, let recordType):
      return zone == reading.change.zone && Self.concerns(reading, recordType: recordType)
    case .database(let recordType):
      // Clients cannot sync the default zone, so its changes fire no database subscription.
      return !reading.change.zone.isDefault && Self.concerns(reading, recordType: recordType)
    }
  }

  /// Whether a change is of the record type that the subscription names. A subscription without a
  /// record type accepts every change; changes of the zone itself always fire.
  private static func concerns(_ reading: ChangeReading, recordType: String?) -> Bool {
    guard let recordType, let record = reading.record else { return true }
    return ByteOrdered.areSame(record.type, recordType)
  }

  /// Whether the first change that fires the subscription also removes it.
  package var firesOnce: Bool {
    if case .query(let rule) = rule { return rule.firesOnce }
    return false
  }

  /// Whether the two subscriptions have the same database and rule. Their ids and the appearance of
  /// their notifications do not count (CloudKit error 15/2032).
  package func isDuplicate(of other: Subscription) -> Bool {
    database == other.database && rule == other.rule
  }
}

extension QueryRule {
  /// Compares the record type first, which excludes most subscriptions.
  func fires(for reading: inout ChangeReading) -> Bool {
    guard let record = reading.record, ByteOrdered.areSame(record.type, recordType),
      firesOn.contains(record.verb.firing)
    else { return false }
    if let scope = zone, scope != reading.change.zone { return false }
    for filter in filters {
      guard filter.passes(&reading) else { return false }
    }
    return true
  }
}

extension RecordChange.Verb {
  var firing: QueryRule.Firing {
    switch self {
    case .created: .create
    case .updated: .update
    case .deleted: .delete
    }
  }
}
