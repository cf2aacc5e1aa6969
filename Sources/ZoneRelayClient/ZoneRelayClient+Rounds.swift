internal import Foundation

extension ZoneRelayClient {
  /// One round: notifications, then databases with their zones, then single zones.
  func round() async throws -> FetchReport {
    _ = try await user()
    queue.beginRound()
    state.beginRound(at: clock.date)
    let wake = state.lastWake
    var report = FetchReport()
    do {
      try await fetch(&report)
    } catch {
      state.failRound()
      // What cannot be stored now is read again; the caller learns of the first error.
      try? save()
      throw error
    }
    state.endRound()
    try save()
    courier.handledWake = wake
    report.deferredUntil = state.waitsUntil
    return report
  }

  private func fetch(_ report: inout FetchReport) async throws {
    if state.fetching.notifications { try await fetchNotifications(&report) }
    for database in UserDatabase.allCases {
      let isWhole = state.fetching.databases.contains(database)
      if isWhole { try await fetchDatabase(database, &report) }
      try await fetchZones(state.named(in: database), of: database, &report)
      try await loseMissing(from: database, &report)
      guard isWhole else { continue }
      for zone in state.lost(from: database) { try await lose(zone, .unseen, &report) }
      state.didRead(database)
    }
  }

  /// Removes the zones that the relay does not find. The user's own database says why such a zone
  /// has ended. A zone that another user shares is `unseen` here, because the shared database does
  /// not distinguish a withdrawal from an end. The next read of the shared database may remove the
  /// zone once more.
  private func loseMissing(
    from database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    if !report.missing.isEmpty, database == .private, state[database] != nil {
      try await fetchDatabase(database, &report)
    }
    for zone in report.missing.sorted() where state.holds(zone) {
      try await lose(zone, .unseen, &report)
    }
    report.missing = []
  }

  private func fetchDatabase(_ database: UserDatabase, _ report: inout FetchReport) async throws {
    var reading = FeedReading()
    while true {
      try checkWanted()
      let held = state[database]
      let (isExpired, page) = try await ask(
        .database, "\(database.rawValue)/changes/database", FeedQuestion(syncToken: held),
        DatabaseAnswer.self)
      if isExpired {
        try expire(&reading, "changes/database")
        try await fetchDigest(of: database, from: page, &report)
        continue
      }
      let isLast = page.moreComing != true
      try check(
        page.syncToken, after: held, isLast: isLast, &reading, "changes/database")
      let zones = page.zones ?? []
      try await fetchChanged(zones, of: database, &report)
      state.read(database, to: page.syncToken, naming: zones.map(\.zoneID))
      try saveProgress()
      if isLast { return }
    }
  }

  /// Fetches the zones of a page that have changed, except those that must not be fetched yet.
  private func fetchChanged(
    _ zones: [DatabaseAnswer.Zone], of database: UserDatabase, _ report: inout FetchReport
  ) async throws {
    var changed: [ZoneID] = []
    for zone in zones {
      // What the database says now is newer than an answer that did not find the zone.
      report.missing.remove(zone.zoneID)
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
    var reading = FeedReading()
    while true {
      let zones = page.zones ?? []
      present.formUnion(zones.map(\.zoneID))
      try await fetchChanged(zones, of: database, &report)
      guard page.moreComing == true else { break }
      try checkWanted()
      guard let digest = page.digestToken, reading.advances(from: nil, to: digest) else {
        throw noAdvance("the digest")
      }
      let (isExpired, next) = try await ask(
        .database, "\(database.rawValue)/changes/database", FeedQuestion(digestToken: digest),
        DatabaseAnswer.self)
      guard isExpired else { throw noAdvance("the digest") }
      page = next
    }
    for zone in state.zones(of: database, without: present) {
      try await lose(zone, .unseen, &report)
    }
    // The first page's token is kept, so that what changed between the pages is named again.
    try check(first.syncToken, after: nil, isLast: true, &reading, "the digest")
    state.read(database, to: first.syncToken, naming: present)
    try saveProgress()
  }

  /// The token that replaces an expired one is stored with the first page after it. If the round
  /// ends before that page, the next round finds the old token expired again, and the first page
  /// then has `startsOver`.
  private func fetchNotifications(_ report: inout FetchReport) async throws {
    var held = state.notifications
    var startsOver = held == nil
    var reading = FeedReading()
    while true {
      try checkWanted()
      let (isExpired, page) = try await ask(
        .device, "notifications/changes", FeedQuestion(syncToken: held),
        NotificationsAnswer.self)
      let isLast = page.moreComing != true && !isExpired
      if isExpired { try expire(&reading, "notifications/changes") }
      try check(
        page.syncToken, after: held, isLast: isLast, &reading, "notifications/changes")
      if isExpired {
        state.lostNotifications()
      } else {
        try await sink.apply(
          NotificationPage(
            notifications: page.notifications ?? [], startsOver: startsOver, isLast: isLast,
            notBefore: state.notificationsWaitUntil.map { Date(timeIntervalSince1970: $0) }))
        report.pages += 1
        state.notifications = page.syncToken
        try saveProgress()
      }
      if isLast { return }
      (held, startsOver) = (page.syncToken, isExpired)
    }
  }

  func expire(_ reading: inout FeedReading, _ place: String) throws {
    guard reading.expires() else { throw noAdvance(place) }
  }

  /// Checks the token of a page. An empty one would stand for the feed's start.
  func check(
    _ token: String, after held: String?, isLast: Bool, _ reading: inout FeedReading,
    _ place: String
  ) throws {
    if token.isEmpty { throw fail(.badAnswer, "\(place): the token is empty") }
    guard isLast || reading.advances(from: held, to: token) else { throw noAdvance(place) }
  }

  private func noAdvance(_ place: String) -> RelayError {
    fail(.badAnswer, "\(place): more is coming, and the token does not advance")
  }
}
