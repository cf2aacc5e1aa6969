/// What a producer reports: a record or zone created, updated, deleted; a zone shared with or
/// withdrawn from a user. Input is checked when it is parsed, so every `Change` is valid.
package struct Change: Hashable, Sendable {
  package var scope: Scope
  /// The database as the zone's owner sees it: `public` or `private`, never `shared`.
  package var database: Database
  package var zone: ZoneID
  package var event: Event
  package var author: Author?
  /// The number that the producer gave to this change; each combination of producer, source and
  /// zone has its own number space.
  package var sequence: Int64?
  /// Keyed hash of producer and source, which selects the number space of `sequence`; 0 without a
  /// `sequence`.
  package var origin: UInt64
  /// How many fetches a second the producer declared that it can serve; 0 means that it declared
  /// none.
  package var fetchCapacity: Int
  /// When the change happened by the producer's clock, for display only. Zero if the producer gave
  /// no time; the journal then has the time of acceptance.
  package var time: Instant
  /// The id of the change's notifications: a keyed hash of scope, source and id, which is the same
  /// for every retry and in every partition.
  package var notification: Identifier
  /// Keyed hash of producer, source and id, as the deduplication window keeps it.
  package var fingerprint: UInt64

  package init(
    scope: Scope, database: Database, zone: ZoneID, event: Event, author: Author? = nil,
    sequence: Int64? = nil, origin: UInt64 = 0, fetchCapacity: Int = 0, time: Instant,
    notification: Identifier, fingerprint: UInt64
  ) {
    self.scope = scope
    self.database = database
    self.zone = zone
    self.event = event
    self.author = author
    self.sequence = sequence
    self.origin = origin
    self.fetchCapacity = fetchCapacity
    self.time = time
    self.notification = notification
    self.fingerprint = fingerprint
  }

  package static let fetchCapacityMax = 1_000_000

  package enum Event: Hashable, Sendable {
    case record(RecordChange)
    case zone(ZoneChange)
    case granted(UserID)
    case revoked(UserID)
  }

  /// The user and client that made the change. Without a client no device counts as the author of
  /// the change.
  package struct Author: Hashable, Sendable {
    package var user: UserID
    package var client: ClientID?

    package init(user: UserID, client: ClientID?) {
      self.user = user
      self.client = client
    }
  }

  /// The device that made the change, as feeds of `owner` name it.
  func device(in owner: UserID) -> ClientID? {
    author.flatMap { author in author.client?.device(of: author.user, in: owner) }
  }

  package var home: PartitionID { .home(of: zone, database, in: scope) }

  package var endsZone: Bool {
    guard case .zone(let change) = event else { return false }
    return change != .created
  }
}

extension Fact {
  /// The same fact; a change to which the producer gave no time gets the relay's time.
  package func accepted(at now: Instant) -> Fact {
    guard case .change(var change) = self, change.time == .zero else { return self }
    change.time = now
    return .change(change)
  }
}

/// What happened to a record. The relay keeps the record's name, type and change tag, never its
/// content.
package struct RecordChange: Hashable, Sendable {
  package var verb: Verb
  package var name: String
  package var type: String
  package var tag: String?
  private var ordered: [Field]

  package init(verb: Verb, name: String, type: String, tag: String? = nil, fields: [Field] = []) {
    (self.verb, self.name, self.type, self.tag) = (verb, name, type, tag)
    ordered = Field.inOrder(fields)
  }

  /// The record's fields in order of name, each name once. The setter sorts the fields.
  package var fields: [Field] {
    get { ordered }
    set { ordered = Field.inOrder(newValue) }
  }

  package func value(of field: String) -> FieldValue? {
    ordered.place(of: field).map { ordered[$0].value }
  }

  package enum Verb: UInt8, Hashable, Sendable { case created = 1, updated, deleted }

  /// The modification time that the producer gave; `nil` means that the producer gave none.
  package var modified: Instant? {
    let name = SystemField.modifiedTimestamp.rawValue
    guard case .timestamp(let instant)? = value(of: name) else { return nil }
    return instant
  }
}

/// What happened to a zone as a whole. `purged` means that the owner's data was deleted, and
/// `reset` that the zone's encrypted data was reset. All cases but `created` end the life of the
/// zone.
package enum ZoneChange: UInt8, Hashable, Sendable { case created = 1, deleted, purged, reset }
