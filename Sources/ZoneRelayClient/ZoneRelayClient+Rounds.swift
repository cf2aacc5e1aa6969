internal import Foundation

extension ZoneRelayClient {
  /// One round: notifications, then databases with their zones, then single zones.
  func round() async throws -> FetchReport {
    _ = try await user()
    state.beginRound(at: clock.date)
    var report = FetchReport()
    do {
      try await fetch(&report)
    } catch {
      state.failRound()
      throw error
    }
    state.endRound()
    try save()
    report.deferredUntil = state.waitsUntil
    return report
  }

  private func fetch(_ report: inout FetchReport) async throws {
    if state.fetching.notifications { try await fetchNotifications(&report) }
    for database in UserDatabase.allCases {
      if state.fetching.databases.contains(database) {
        try await fetchDatabase(database, &report)
        for zone in state.lost(from: database) { try await lose(zone, .unseen, &report) }
        state.didRead(database)
      }
      try await fetchZones(state.named(in: database), of: database, &report)
    }
  }

  private func fetchDatabase(_ database: UserDatabase, _ report: inout FetchReport) async throws {
    var expiries = 0
    while true {
      try checkWanted()
      let held = state[database]
      let (isExpired, page) = try await ask(
        .database, "\(database.rawValue)/changes/database", DatabaseQuestion(syncToken: held),
        DatabaseAnswer.self)
      if isExpired {
        expiries += 1
        guard expiries <= Self.expiriesMax else { throw noAdvance("changes/database") }
        try await fetchDigest(of: database, from: page, &report)
        continue
      }
      let isLast = page.moreComing != true
      try checkAdvance(from: held, to: page.syncToken, isLast: isLast, "changes/database")
      let zones = page.zones ?? []
      try await fetchChanged(zones, of: database, &report)
      state.read(database, to: page.syncToken, naming: zones.map(\.zoneID))
      try save()
      if isLast { return }
    }
  }

  /// Fetches the zones of a page that have changed, but those that must wait.
  private func fetchChanged(
    _ zones: [DatabaseAnswer.Zone], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var changed: [ZoneID] = []
    for zone in zones {
      if let loss = zone.loss {
        try await lose(zone.zoneID, loss, &report)
      } else if state.waits(zone.zoneID) {
        state.postpone(zone.zoneID)
      } else if zone.syncToken == nil || state.token(of: zone.zoneID) != zone.syncToken {
        changed.append(zone.zoneID)
      } else {
        state.didRead(zone.zoneID)
      }
    }
    try await fetchZones(changed, of: database, &report)
  }

  /// The database's token has expired: fetches the zones whose token differs, and removes those
  /// that the digest does not name.
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
      guard let digest = page.digestToken else { throw noAdvance("the digest") }
      let (isExpired, next) = try await ask(
        .database, "\(database.rawValue)/changes/database", DatabaseQuestion(digestToken: digest),
        DatabaseAnswer.self)
      guard isExpired, next.digestToken != digest else { throw noAdvance("the digest") }
      page = next
    }
    for zone in state.zones(of: database, without: present) {
      try await lose(zone, .unseen, &report)
    }
    // The first page's token, so that what changed between the pages is named again.
    try checkAdvance(from: nil, to: first.syncToken, isLast: true, "the digest")
    state.read(database, to: first.syncToken, naming: present)
    try save()
  }

  private func lose(_ zone: ZoneID, _ loss: ZoneLoss, _ report: inout FetchReport) async throws {
    try await sink.remove(zone, loss)
    state.lose(zone)
    report.zones.insert(zone)
  }

  private func fetchZones(
    _ zones: [ZoneID], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var rest = zones[...]
    var unfinished: [ZoneID] = []
    var expiries: [ZoneID: Int] = [:]
    while !rest.isEmpty || !unfinished.isEmpty {
      try checkWanted()
      let batch = unfinished + rest.prefix(Self.zonesPerRequest - unfinished.count)
      rest = rest.dropFirst(batch.count - unfinished.count)
      if state.begin(batch) { try save() }
      let (_, answer) = try await ask(
        .database, "\(database.rawValue)/changes/zone",
        ZonesQuestion(zones: batch.map { .init(zoneID: $0, syncToken: state.token(of: $0)) }),
        ZonesAnswer.self)
      guard let items = answer.items(for: batch) else {
        throw fail(.badAnswer, "changes/zone: the answer is not about the zones asked for")
      }
      unfinished = []
      for (zone, item) in zip(batch, items) {
        if item.isExpired { expiries[zone, default: 0] += 1 }
        guard expiries[zone, default: 0] <= Self.expiriesMax else {
          throw noAdvance("zone \(zone.name)")
        }
        if try await take(item, of: zone, &report) { unfinished.append(zone) }
      }
      try save()
    }
  }

  /// Applies one zone's part of an answer.
  ///
  /// - Returns: true if the zone has further pages.
  private func take(
    _ item: ZonesAnswer.Zone, of zone: ZoneID, _ report: inout FetchReport
  ) async throws -> Bool {
    let held = state.token(of: zone)
    switch item.serverErrorCode {
    case nil: break
    case _ where item.isExpired && held != nil:
      state.expire(zone)
      return true
    case ErrorAnswer.zoneNotFound:
      try await lose(zone, .unseen, &report)
      return false
    case let code?:
      throw fail(
        ErrorAnswer.meaning(of: code), "zone \(zone.name): \(code): \(item.reason ?? "")")
    }
    guard let token = item.syncToken else {
      throw fail(.badAnswer, "changes/zone: zone \(zone.name) has no syncToken")
    }
    let isLast = item.moreComing != true
    try checkAdvance(from: held, to: token, isLast: isLast, "zone \(zone.name)")
    let page = ZonePage(item, of: zone, startsOver: held == nil)
    // An answer without news is no page for the sink.
    if token != held || page.gap || !page.isEmpty {
      try await sink.apply(page)
      report.add(page)
    }
    if token != held { backoff.succeeded() }
    state.read(zone, to: token)
    if isLast { state.didRead(zone) }
    return !isLast
  }

  private func fetchNotifications(_ report: inout FetchReport) async throws {
    var startsOver = state.notifications == nil
    var expiries = 0
    while true {
      try checkWanted()
      let held = state.notifications
      let (isExpired, page) = try await ask(
        .device, "notifications/changes", NotificationsQuestion(syncToken: held),
        NotificationsAnswer.self)
      let isLast = page.moreComing != true && !isExpired
      try checkAdvance(from: held, to: page.syncToken, isLast: isLast, "notifications/changes")
      if isExpired {
        expiries += 1
        guard expiries <= Self.expiriesMax else { throw noAdvance("notifications/changes") }
        state.lostNotifications()
        startsOver = true
      } else {
        try await sink.apply(
          NotificationPage(
            page, startsOver: startsOver, notBefore: state.notificationsWaitUntil))
        report.pages += 1
        startsOver = false
      }
      state.notifications = page.syncToken
      try save()
      if isLast { return }
    }
  }

  /// How many zones one request asks for: at most 200 records each fit into an answer of 1,000.
  private static let zonesPerRequest = 50
  /// How often a token of one feed may expire in a round. More would be a fault of the relay.
  private static let expiriesMax = 3

  /// An empty token would stand for the feed's start.
  private func checkAdvance(
    from held: String?, to token: String, isLast: Bool, _ place: String
  ) throws {
    if token.isEmpty { throw fail(.badAnswer, "\(place): the token is empty") }
    guard isLast || token != held else { throw noAdvance(place) }
  }

  private func noAdvance(_ place: String) -> RelayError {
    fail(.badAnswer, "\(place): more is coming, and the token does not advance")
  }
}
