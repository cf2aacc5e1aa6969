/// The fields that the query subscriptions of one partition read in records of one type. The
/// interest decides which values a forwarded change must carry.
package struct Interest: Hashable, Sendable {
  /// A record type in a database, `public` or `shared`.
  package struct Key: Hashable, Comparable, Sendable {
    package var scope: Scope
    package var database: Database
    package var recordType: String

    package init(scope: Scope, database: Database, recordType: String) {
      (self.scope, self.database, self.recordType) = (scope, database, recordType)
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
    /// No subscription is left. Public changes are not forwarded to the partition, and changes of
    /// shared zones are forwarded without values.
    case ended
    /// The fields with these names, in order; the list may be empty.
    case named([String])
    /// The whole record: a subscription searches it, or the list of names would exceed its bounds.
    case all
  }

  /// The most names in one list. Above this number, or above `nameBytesMax` bytes, the whole record
  /// is sent.
  static let namesMax = 16
  static let nameBytesMax = 512
}

/// An interest of another partition, as a change's home keeps it.
package struct InterestRow: Hashable, Sendable {
  package var source: PartitionID
  package var interest: Interest

  package init(source: PartitionID, interest: Interest) {
    self.source = source
    self.interest = interest
  }
}
