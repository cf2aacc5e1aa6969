internal import Foundation

extension ZoneRelayClient {
  /// How many zones one request asks for.
  private static let zonesPerRequest = 20

  /// One round: databases first, because they name zones; then single zones; then notifications.
  func round(_ wanted: FetchPlan) async throws -> FetchReport {
    _ = try await user()
    var plan = wanted
    plan.add(state.deferred)
    plan.zones.formUnion(state.takeDue(at: clock.date))
    state.deferred = plan
    var report = FetchReport()
    if plan.notifications, try await fetchNotifications(&report) {
      plan.databases = Set(UserDatabase.allCases)
      state.deferred.databases = plan.databases
    }
    for database in UserDatabase.allCases where plan.databases.contains(database) {
      try await fetchDatabase(database, &report)
    }
    for database in UserDatabase.allCases where !plan.databases.contains(database) {
      let zones = plan.zones.filter { state.database(of: $0) == database }
      try await fetchZones(zones.sorted(), of: database, &report)
    }
    // Wakes that came during the round have added to `deferred` what they named.
    state.deferred = turns.isWaited ? state.deferred : FetchPlan()
    try save()
    report.deferredUntil = state.waitsUntil?.timeIntervalSince1970
    return report
  }

  private func checkWanted() throws {
    guard turns.isWanted else { throw CancellationError() }
  }

  private func fetchDatabase(_ database: UserDatabase, _ report: inout FetchReport) async throws {
    while true {
      try checkWanted()
      let held = state.databases[database.rawValue]
      let (isExpired, page) = try await ask(
        "database", "\(database.rawValue)/changes/database", DatabaseQuestion(syncToken: held),
        DatabaseAnswer.self)
      if isExpired {
        try await fetchDigest(of: database, from: page, &report)
        continue
      }
      let isLast = page.moreComing != true
      guard isLast || page.syncToken != held else { throw Self.noAdvance("changes/database") }
      try await fetchChanged(page.zones ?? [], of: database, &report)
      state.databases[database.rawValue] = page.syncToken
      try save()
      if isLast { return }
    }
  }

  private func fetchChanged(
    _ zones: [DatabaseAnswer.Zone], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var changed: [ZoneID] = []
    for zone in zones {
      if let loss = zone.loss {
        try await lose(zone.zoneID, loss, &report)
      } else if zone.syncToken == nil || state.zones[zone.zoneID] != zone.syncToken {
        changed.append(zone.zoneID)
      }
    }
    try await fetchZones(changed, of: database, &report)
  }

  /// The database's token has expired: fetches the zones whose token differs, and removes those that
  /// the digest does not name.
  private func fetchDigest(
    of database: UserDatabase, from first: DatabaseAnswer, _ report: inout FetchReport
  ) async throws {
    var (page, present): (DatabaseAnswer, Set<ZoneID>) = (first, [])
    while true {
      let zones = page.zones ?? []
      present.formUnion(zones.map(\.zoneID))
      try await fetchChanged(zones, of: database, &report)
      guard page.moreComing == true else { break }
      try checkWanted()
      guard let digest = page.digestToken else { throw Self.noAdvance("the digest") }
      let (isExpired, next) = try await ask(
        "database", "\(database.rawValue)/changes/database",
        DatabaseQuestion(digestToken: digest), DatabaseAnswer.self)
      guard isExpired, next.digestToken != digest else { throw Self.noAdvance("the digest") }
      page = next
    }
    let gone = state.zones.keys.filter { !present.contains($0) && state.database(of: $0) == database }
    for zone in gone.sorted() { try await lose(zone, .unseen, &report) }
    state.databases[database.rawValue] = page.syncToken
    try save()
  }

  private func lose(_ zone: ZoneID, _ loss: ZoneLoss, _ report: inout FetchReport) async throws {
    try await sink.remove(zone, loss)
    state.zones[zone] = nil
    state.waiting[zone] = nil
    report.zones.insert(zone)
  }

  private func fetchZones(
    _ zones: [ZoneID], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var rest = zones
    while !rest.isEmpty {
      try checkWanted()
      let batch = Array(rest.prefix(Self.zonesPerRequest))
      let (_, answer) = try await ask(
        "database", "\(database.rawValue)/changes/zone",
        ZonesQuestion(zones: batch.map { .init(zoneID: $0, syncToken: state.zones[$0]) }),
        ZonesAnswer.self)
      guard answer.zones.count == batch.count else {
        throw RelayError(.badAnswer, "changes/zone answers \(answer.zones.count) of \(batch.count) zones")
      }
      var unfinished: [ZoneID] = []
      for (zone, item) in zip(batch, answer.zones)
      where try await take(item, of: zone, &report) { unfinished.append(zone) }
      try save()
      rest = unfinished + rest.dropFirst(batch.count)
    }
  }

  /// Applies one zone's part of an answer.
  ///
  /// - Returns: true if the zone has further pages.
  private func take(
    _ item: ZonesAnswer.Zone, of zone: ZoneID, _ report: inout FetchReport
  ) async throws -> Bool {
    let held = state.zones[zone]
    switch item.serverErrorCode {
    case nil: break
    case ErrorAnswer.tokenExpired where held != nil:
      state.zones[zone] = nil
      return true
    case ErrorAnswer.zoneNotFound:
      try await lose(zone, .unseen, &report)
      return false
    case let code?:
      throw RelayError(.refused, "zone \(zone.name): \(code): \(item.reason ?? "")")
    }
    guard let token = item.syncToken else {
      throw RelayError(.badAnswer, "zone \(zone.name) has no syncToken")
    }
    let isLast = item.moreComing != true
    guard isLast || token != held else { throw Self.noAdvance("zone \(zone.name)") }
    let records = item.records ?? []
    try await sink.apply(
      ZonePage(
        zone: zone, deleted: records.filter { $0.deleted == true }.map(ZonePage.Record.init),
        changed: records.filter { $0.deleted != true }.map(ZonePage.Record.init),
        gap: item.gap ?? false, startsOver: held == nil, isLast: isLast))
    state.zones[zone] = token
    state.waiting[zone] = nil
    report.pages += 1
    report.records += records.count
    report.zones.insert(zone)
    return !isLast
  }

  /// - Returns: true if notifications were lost, so that the databases must be looked at.
  private func fetchNotifications(_ report: inout FetchReport) async throws -> Bool {
    var isLost = false
    var startsOver = state.notifications == nil
    while true {
      try checkWanted()
      let held = state.notifications
      let (isExpired, page) = try await ask(
        "device", "notifications/changes", NotificationsQuestion(syncToken: held),
        NotificationsAnswer.self)
      let isLast = page.moreComing != true
      if isExpired {
        guard page.syncToken != held else { throw Self.noAdvance("notifications/changes") }
        (isLost, startsOver) = (true, true)
      } else {
        guard isLast || page.syncToken != held else {
          throw Self.noAdvance("notifications/changes")
        }
        try await sink.apply(
          NotificationPage(
            notifications: page.notifications ?? [], startsOver: startsOver, isLast: isLast))
        report.pages += 1
        startsOver = false
      }
      state.notifications = page.syncToken
      try save()
      if isLast, !isExpired { return isLost }
    }
  }

  private static func noAdvance(_ place: String) -> RelayError {
    RelayError(.badAnswer, "\(place) says that more is coming, and does not advance")
  }
}
