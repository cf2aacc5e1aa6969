extension Subscription {
  /// Whether a change, already known to be in this subscription's database, fires it.
  package func fires(for change: Change) -> Bool {
    var reading = ChangeReading(change)
    return fires(for: &reading)
  }

  /// The same with a prepared change, which many subscriptions share.
  func fires(for reading: inout ChangeReading) -> Bool {
    reading.spend(1)
    switch rule {
    case .query(let rule): return rule.fires(for: &reading)
    case .zone(let zone, let recordType):
      return zone == reading.change.zone && Self.concerns(reading, recordType: recordType)
    case .database(let recordType):
      // The default zone has no sync semantics: its changes do not fire.
      return !reading.change.zone.isDefault && Self.concerns(reading, recordType: recordType)
    }
  }

  /// A record type limits the wake to records of that type; changes of the zone itself always fire.
  private static func concerns(_ reading: ChangeReading, recordType: String?) -> Bool {
    guard let recordType, let record = reading.record else { return true }
    return ByteOrdered.areSame(record.type, recordType)
  }

  /// Whether both have the same database and rule. The id and the appearance of notifications do
  /// not count (15/2032).
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
