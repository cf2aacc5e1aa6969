/// What the query subscriptions of one partition look at in records of one type: which values a
/// change on its way there needs to carry.
package struct Interest: Hashable, Sendable {
  /// A record type in a database, `public` or `shared`.
  package struct Key: Hashable, Comparable, Sendable {
    package var scope: Scope
    package var database: Database
    package var recordType: String

    package init(scope: Scope, database: Database, recordType: String) {
      self.scope = scope
      self.database = database
      self.recordType = recordType
    }

    package static func == (left: Key, right: Key) -> Bool {
      left.scope == right.scope && left.database == right.database
        && ByteOrdered.areSame(left.recordType, right.recordType)
    }

    package static func < (left: Key, right: Key) -> Bool {
      if left.scope != right.scope { return left.scope < right.scope }
      if left.database != right.database { return left.database < right.database }
      return ByteOrdered.precedes(left.recordType, right.recordType)
    }
  }

  package var key: Key
  package var fields: Fields

  package init(key: Key, fields: Fields) {
    self.key = key
    self.fields = fields
  }

  package enum Fields: Hashable, Sendable {
    /// No subscription is left: changes need not go there.
    case ended
    /// The fields of these names, in order; there may be none.
    case named([String])
    /// The whole record: a subscription searches it, or more is named than is worth a list.
    case all
  }

  /// Names in one list, and their bytes; beyond either, the whole record is meant.
  static let namesMax = 16
  static let nameBytesMax = 512
}

/// What another partition wants, as a change's home keeps it.
package struct InterestRow: Hashable, Sendable {
  package var source: PartitionID
  package var interest: Interest

  package init(source: PartitionID, interest: Interest) {
    self.source = source
    self.interest = interest
  }
}
