import RelayCore
import RelayWire

/// Reads CloudKit's subscription dictionaries. A `Subscription` that the reader returns obeys every
/// rule for subscriptions of its database and type.
struct SubscriptionReader {
  let database: Database
  let user: UserID
  let limits: HTTPLimits

  /// - Throws: `WireError` or `JSONProblem`, with which the item is answered.
  func subscription(_ value: JSONCursor, id: SubscriptionID) throws -> Subscription {
    let type = try value.required("subscriptionType")
    let info = try NotificationInfoText(limits: limits).info(
      value.optional("notificationInfo"))
    let rule: Subscription.Rule
    switch Spelled(try type.string()) {
    case "query": rule = try query(value)
    case "zone":
      rule = try zone(value)
      try refuseQueryLooks(info)
      try refuseNarrow(value, "a zone subscription is about its whole zone")
      try refuseQueryRules(value)
    case "database":
      try refuseNarrow(value, "a database subscription is about every zone")
      rule = try wholeDatabase(value)
      try refuseQueryRules(value)
      try refuseQueryLooks(info)
    default: throw type.problem("must be \"query\", \"zone\" or \"database\"")
    }
    let isUrgent = try value.optional("urgent")?.boolean() ?? false
    return Subscription(
      id: id, database: database, rule: rule, info: info, isUrgent: isUrgent)
  }

  private func query(_ value: JSONCursor) throws -> Subscription.Rule {
    guard database != .shared else {
      throw WireError(.badRequest, "query subscriptions are not supported in the shared database")
    }
    let query = try value.required("query").object()
    try query.refuseOtherSpellings(of: KnownMembers.query)
    let type = try Name.read(query.required("recordType"), limits)
    // The order of records has no meaning for a subscription, so a requested order is ignored.
    _ = try query.optional("sortBy")?.elements()
    let filters = try FilterReader(limits: limits).filters(of: query)
    let once = try value.optional("firesOnce")?.boolean() ?? false
    return .query(
      QueryRule(
        recordType: type, filters: filters, firesOn: try firing(value), firesOnce: once,
        zone: try queryZone(value)))
  }

  /// The only zone that a query subscription watches; `nil` means every zone of the database.
  private func queryZone(_ value: JSONCursor) throws -> ZoneID? {
    let isWide = try value.optional("zoneWide")?.boolean()
    if isWide == true { return nil }
    guard let named = value.optional("zoneID") else {
      // The public database has only one zone, so the client need not name it.
      if database == .public { return isWide == nil ? nil : .publicDefault }
      try refuseNarrow(value, "there is no zoneID; name the zone that is meant")
      return nil
    }
    let owner = database == .public ? ZoneID.publicDefault.owner : user
    let zone = try Name.zone(named, owner: owner, limits)
    guard zone.owner == owner, database != .public || zone == .publicDefault else {
      throw WireError.zoneNotFound
    }
    return zone
  }

  private func zone(_ value: JSONCursor) throws -> Subscription.Rule {
    let zone = try Name.zone(
      value.required("zoneID"), owner: database == .public ? ZoneID.publicDefault.owner : user,
      limits)
    guard !zone.isDefault, database != .public else { throw WireError.noSync }
    guard database == .private else {
      throw WireError(.badRequest, "zone subscriptions are not supported in the shared database")
    }
    guard zone.owner == user else { throw WireError.zoneNotFound }
    return .zone(zone, recordType: try recordType(value))
  }

  private func wholeDatabase(_ value: JSONCursor) throws -> Subscription.Rule {
    guard database != .public else {
      throw WireError(
        .badRequest, "database subscriptions are not supported in the public database")
    }
    if let zone = value.optional("zoneID") {
      throw zone.problem(
        "is not for database subscriptions, which are about every zone; leave it out, or subscribe "
          + "to the zone with subscriptionType \"zone\"")
    }
    return .database(recordType: try recordType(value))
  }

  private func recordType(_ value: JSONCursor) throws(JSONProblem) -> String? {
    guard let type = value.optional("recordType") ?? value["query"]?.optional("recordType") else {
      return nil
    }
    return try Name.read(type, limits)
  }

  /// Refuses a subscription to a part of a zone or of a database, which the relay does not support.
  /// If the relay saved a wider subscription instead, that one would wake devices for changes that
  /// the user did not want.
  private func refuseNarrow(_ value: JSONCursor, _ reason: String) throws(JSONProblem) {
    guard let wide = value.optional("zoneWide"), try !wide.boolean() else { return }
    throw wide.problem("must not be false: \(reason)")
  }

  /// Refuses members that would narrow a zone or database subscription. Such a subscription fires
  /// for every change of a record whose type it names, or of any record if it names no type. Saved
  /// without these members, the subscription would wake devices for changes that the user did not
  /// want. A value that narrows nothing is accepted.
  private func refuseQueryRules(_ value: JSONCursor) throws(JSONProblem) {
    let remedy = "leave it out, or save a subscription of type \"query\""
    if let kinds = value.optional("firesOn"), try firing(value) != .all {
      throw kinds.problem(
        "must name create, update and delete here, or be left out: only query subscriptions fire "
          + "for some kinds of change")
    }
    if let once = value.optional("firesOnce"), try once.boolean() {
      throw once.problem("is only for query subscriptions; \(remedy)")
    }
    guard let query = try value.optional("query")?.object() else { return }
    try query.refuseOtherSpellings(of: KnownMembers.query)
    if let filters = query.optional("filterBy"), try !filters.elements().isEmpty {
      throw filters.problem("is only for query subscriptions; \(remedy)")
    }
  }

  /// Refuses members that only query subscriptions may have.
  private func refuseQueryLooks(_ info: NotificationInfo) throws(WireError) {
    guard info.desiredKeys.isEmpty else {
      throw WireError(.badRequest, "cannot add additionalFields to this subscription type")
    }
    guard info.collapseKey == nil else {
      throw WireError(.badRequest, "cannot add collapseId to this subscription type")
    }
  }

  private func firing(_ value: JSONCursor) throws(JSONProblem) -> QueryRule.Firing {
    guard let list = value.optional("firesOn") else { return .all }
    var firing: QueryRule.Firing = []
    for item in try list.elements() {
      switch Spelled(try item.string()) {
      case "create": firing.insert(.create)
      case "update": firing.insert(.update)
      case "delete": firing.insert(.delete)
      default: throw item.problem("must be \"create\", \"update\" or \"delete\"")
      }
    }
    guard !firing.isEmpty else { throw list.problem("must name at least one kind of change") }
    return firing
  }
}
