extension Subscription {
  /// Whether a change, already known to be in this subscription's database, fires it.
  package func fires(for change: Change) -> Bool {
    switch rule {
    case .query(let rule):
      guard case .record(let record) = change.event else { return false }
      return rule.fires(for: record, in: change.zone)
    case .zone(let zone, let recordType):
      return zone == change.zone && Self.concerns(change, recordType: recordType)
    case .database(let recordType):
      // The default zone has no sync semantics: its changes do not fire.
      return !change.zone.isDefault && Self.concerns(change, recordType: recordType)
    }
  }

  /// A record type limits the wake to records of that type; what befalls the zone always counts.
  private static func concerns(_ change: Change, recordType: String?) -> Bool {
    guard let recordType, case .record(let record) = change.event else { return true }
    return record.type == recordType
  }

  /// Equal in what it listens to; the id and the looks of its notifications aside (15/2032).
  package func isDuplicate(of other: Subscription) -> Bool {
    database == other.database && rule == other.rule
  }
}

extension QueryRule {
  package func fires(for record: RecordChange, in zone: ZoneID) -> Bool {
    guard record.type == recordType, firesOn.contains(record.verb.firing) else { return false }
    if let scope = self.zone, scope != zone { return false }
    return filters.allSatisfy { $0.passes(record) }
  }
}

extension QueryRule.Filter {
  /// A missing field or another type is no match.
  package func passes(_ record: RecordChange) -> Bool {
    switch comparator {
    case .equals: record.fields.contains { $0.name == field && $0.value == value }
    }
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
