package import RelayCore
package import RelayEngine
package import RelayWire

/// Reads CloudEvents into changes. Every `Change` that the reader returns is valid.
package struct EventReader: Sendable {
  let scope: Scope
  /// The producer's name with its scope, so that the name is unique in the whole relay. By this
  /// name the relay distinguishes equal event ids of two producers.
  let producer: String
  let ids: any IdentityKeys
  let limits: HTTPLimits
  /// How many fetches a second the producer can serve; 0 means that the producer declares no
  /// number.
  let fetchCapacity: Int

  package init(
    scope: Scope, producer: String, ids: any IdentityKeys, limits: HTTPLimits,
    fetchCapacity: Int = 0
  ) {
    self.scope = scope
    self.producer = "\(scope.container)/\(scope.environment.name)/\(producer)"
    (self.ids, self.limits, self.fetchCapacity) = (ids, limits, fetchCapacity)
  }

  package func change(_ event: JSONCursor) throws(JSONProblem) -> Change {
    try change(head(of: event), data(of: event))
  }

  /// The checked attributes of an event, without its data.
  struct Head {
    var id: String
    var source: String
    fileprivate var kind: Kind
    var time: Instant
  }

  /// Reads the context attributes, which are members of `event`.
  func head(of event: JSONCursor) throws(JSONProblem) -> Head {
    _ = try event.object()
    let version = try event.required("specversion")
    guard Spelled(try version.string()) == "1.0" else { throw version.problem("must be \"1.0\"") }
    let id = try attribute(event.required("id"))
    let source = try attribute(event.required("source"))
    let type = try event.required("type")
    guard let kind = Kind(spelled: try type.string()) else {
      throw type.problem(
        "is unknown; known are \(Kind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return Head(id: id, source: source, kind: kind, time: try time(of: event))
  }

  func change(_ head: Head, _ data: JSONCursor) throws(JSONProblem) -> Change {
    try data.refuseOtherSpellings(of: KnownMembers.eventData)
    let (database, zone) = try place(of: data, head.kind)
    let sequence = try self.sequence(of: data)
    let identity = ids.identity(
      scope: scope, producer: producer, source: head.source, id: head.id)
    return Change(
      scope: scope, database: database, zone: zone,
      event: try self.event(head.kind, data, zone: zone), author: try author(of: data),
      sequence: sequence,
      origin: sequence == nil ? 0 : ids.origin(producer: producer, source: head.source),
      fetchCapacity: fetchCapacity, time: head.time,
      notification: identity.notification, fingerprint: identity.fingerprint)
  }

  fileprivate enum Kind: String, CaseIterable {
    case recordCreated = "zonerelay.record.created"
    case recordUpdated = "zonerelay.record.updated"
    case recordDeleted = "zonerelay.record.deleted"
    case zoneCreated = "zonerelay.zone.created"
    case zoneDeleted = "zonerelay.zone.deleted"
    case zonePurged = "zonerelay.zone.purged"
    case zoneReset = "zonerelay.zone.reset"
    case granted = "zonerelay.share.granted"
    case revoked = "zonerelay.share.revoked"

    var isOfRecord: Bool {
      switch self {
      case .recordCreated, .recordUpdated, .recordDeleted: true
      default: false
      }
    }
  }

  private func attribute(_ value: JSONCursor) throws(JSONProblem) -> String {
    let text = try value.string()
    guard Name.isValid(text, bytesMax: limits.eventAttributeBytes) else {
      throw value.problem(
        "must have 1 to \(limits.eventAttributeBytes) bytes and no control characters")
    }
    return text
  }

  private func sequence(of data: JSONCursor) throws(JSONProblem) -> Int64? {
    guard let value = data.optional("sequence") else { return nil }
    let number = try value.integer()
    guard number >= 0 else { throw value.problem("must be a whole number, 0 or more") }
    return number
  }

  private func time(of event: JSONCursor) throws(JSONProblem) -> Instant {
    guard let value = event.optional("time") else { return .zero }
    guard let time = Timestamp.instant(try value.string()) else {
      throw value.problem("must be a date of RFC 3339, such as 2026-11-21T03:00:00Z")
    }
    return time
  }

  private func data(of event: JSONCursor) throws(JSONProblem) -> JSONCursor {
    if let type = event.optional("datacontenttype") {
      let name = MediaType.name(of: try type.string())
      guard MediaType.isJSON(name) else { throw type.problem("must be application/json") }
    }
    if let data = event.optional("data_base64") {
      throw data.problem("is not supported; send data as JSON")
    }
    return try event.required("data").object()
  }

  /// The database, as the zone's owner sees it, and the zone of an event.
  private func place(
    of data: JSONCursor, _ kind: Kind
  ) throws(JSONProblem) -> (Database, ZoneID) {
    let value = try data.required("database")
    switch Database(name: try value.string()) {
    case .private:
      let zoneID = try data.required("zoneID")
      let zone = try Name.zone(zoneID, owner: nil, limits)
      if !kind.isOfRecord, zone.isDefault {
        throw zoneID.problem("must be a custom zone for \(kind.rawValue)")
      }
      return (.private, zone)
    case .public:
      guard kind.isOfRecord else { throw value.problem("must be \"private\" for \(kind.rawValue)") }
      if let zoneID = data.optional("zoneID") {
        let zone = try Name.zone(zoneID, owner: ZoneID.publicDefault.owner, limits)
        guard zone == .publicDefault else {
          throw zoneID.problem(
            "must be _defaultZone of _defaultOwner: the public database has no other")
        }
      }
      return (.public, .publicDefault)
    case .shared:
      throw value.problem(
        "\"shared\" is a participant's view; report the change as its zone's owner sees it, "
          + "in \"private\"")
    case nil:
      throw value.problem("must be \"private\" or \"public\"")
    }
  }

  private func event(
    _ kind: Kind, _ data: JSONCursor, zone: ZoneID
  ) throws(JSONProblem) -> Change.Event {
    switch kind {
    case .recordCreated: .record(try record(.created, data))
    case .recordUpdated: .record(try record(.updated, data))
    case .recordDeleted: .record(try record(.deleted, data))
    case .zoneCreated: .zone(.created)
    case .zoneDeleted: .zone(.deleted)
    case .zonePurged: .zone(.purged)
    case .zoneReset: .zone(.reset)
    case .granted: .granted(try participant(of: data, zone: zone))
    case .revoked: .revoked(try participant(of: data, zone: zone))
    }
  }

  private func record(
    _ verb: RecordChange.Verb, _ data: JSONCursor
  ) throws(JSONProblem) -> RecordChange {
    let record = try data.required("record").object()
    try record.refuseOtherSpellings(of: KnownMembers.eventRecord)
    let name = try Name.read(record.required("recordName"), limits)
    let type = try verb == .deleted ? record.optional("recordType") : record.required("recordType")
    let typeName = try type.map { (type) throws(JSONProblem) in try Name.read(type, limits) } ?? ""
    let tag = try record.optional("recordChangeTag").map { (tag) throws(JSONProblem) in
      try Name.read(tag, limits)
    }
    var fields = try FieldReader.fields(of: record, limits)
    if let created = record.optional("created") {
      fields += try stamp(created, .createdTimestamp, .createdUserRecordName)
    }
    if let modified = record.optional("modified") {
      fields += try stamp(modified, .modifiedTimestamp, .modifiedUserRecordName)
    }
    return RecordChange(verb: verb, name: name, type: typeName, tag: tag, fields: fields)
  }

  /// Reads when a record was created or modified, and by which user. Only filters use these fields.
  private func stamp(
    _ value: JSONCursor, _ time: SystemField, _ user: SystemField
  ) throws(JSONProblem) -> [Field] {
    var fields: [Field] = []
    try value.refuseOtherSpellings(of: KnownMembers.eventStamp)
    if let timestamp = try value.object().optional("timestamp") {
      let instant = Instant(milliseconds: try timestamp.integer())
      fields.append(Field(name: time.rawValue, value: .timestamp(instant)))
    }
    if let named = value.optional("userRecordName") {
      fields.append(Field(name: user.rawValue, value: .string(try Name.read(named, limits))))
    }
    return fields
  }

  private func participant(of data: JSONCursor, zone: ZoneID) throws(JSONProblem) -> UserID {
    if let share = data.optional("share") {
      try share.object().refuseOtherSpellings(of: KnownMembers.eventShare)
      if let record = share.optional("recordName") {
        throw record.problem("is not supported: only whole zones are shared")
      }
    }
    let value = try data.required("participant")
    let user = try Name.user(value, limits)
    guard user != zone.owner else { throw value.problem("must not be the zone's owner") }
    return user
  }

  private func author(of data: JSONCursor) throws(JSONProblem) -> Change.Author? {
    guard let value = data.optional("changedBy") else { return nil }
    try value.refuseOtherSpellings(of: KnownMembers.eventAuthor)
    let user = try Name.user(value.object().required("userRecordName"), limits)
    guard let named = value.optional("clientId") else {
      return Change.Author(user: user, client: nil)
    }
    guard let client = ClientID(text: try named.string()) else {
      throw named.problem("must be a UUID; leave it out if no device of the relay made the change")
    }
    return Change.Author(user: user, client: client)
  }
}
