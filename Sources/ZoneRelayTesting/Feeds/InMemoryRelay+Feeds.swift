internal import Foundation
internal import ZoneRelayClient

extension InMemoryRelay {
  func databaseChanges(
    _ question: Question, _ user: String, _ database: UserDatabase
  ) throws(Answer) -> Answer {
    let feed = "\(database.rawValue) of \(user)"
    let zones = users[user]?.databases[database] ?? [:]
    let head = users[user]?.head(of: database) ?? 0
    if let digest = question.text("digestToken") {
      throw digestAnswer(
        after: try FeedCursor.read(digest, of: "digest \(feed)").cursor, zones, feed, user)
    }
    let reader = try cursor(question.text("syncToken"), in: feed, floor: 0, head: head)
    guard let reader else { throw digestAnswer(after: nil, zones, feed, user) }
    let news = zones.filter { $0.value.entry.isNews(for: reader) }
      .sorted { $0.value.entry.position < $1.value.entry.position }
    let page = news.prefix(pageEntries)
    let isLast = page.count == news.count
    let end = isLast ? head : page.last?.value.entry.position ?? head
    return Answer([
      "zones": page.map { zone, state in
        let isOwn = state.entry.isOwn(of: question.installation, for: reader)
        return zoneItem(zone, state, of: user, isOwn: isOwn)
      },
      "syncToken": token(feed, reader.next(end, isLast: isLast)), "moreComing": !isLast,
    ])
  }

  private func zoneItem(
    _ zone: ZoneID, _ state: UserFeeds.Zone, of user: String, isOwn: Bool
  ) -> [String: Any] {
    var item: [String: Any] = ["zoneID": zone.json, "own": isOwn]
    guard state.entry.isDeleted else {
      item["syncToken"] = token(Self.feed(of: zone, user), at: zones[zone]?.head ?? 0)
      return item
    }
    item["deleted"] = true
    if state.loss == .purged { item["purged"] = true }
    if state.loss == .reset { item["reset"] = true }
    return item
  }

  /// The answer to an expired token of a database: all its zones, page by page. All pages have the
  /// same token: the database's position when the first page was made.
  ///
  /// - Parameter cursor: how many zones the earlier pages have named, and the position of the
  ///   pages' token; nil for the first page.
  private func digestAnswer(
    after cursor: FeedCursor?, _ zones: [ZoneID: UserFeeds.Zone], _ feed: String, _ user: String
  ) -> Answer {
    let present = zones.filter { !$0.value.entry.isDeleted }.sorted { $0.key < $1.key }
    let place = cursor?.position ?? 0
    let page = present.dropFirst(place).prefix(pageEntries)
    let head = cursor?.base ?? zones.values.map(\.entry.position).max() ?? 0
    var members = Answer.error("CHANGE_TOKEN_EXPIRED", "the token has expired")
    members["zones"] = page.map { zone, state in
      zoneItem(zone, state, of: user, isOwn: false)
    }
    members["syncToken"] = token(feed, at: head)
    if place + page.count < present.count {
      members["moreComing"] = true
      members["digestToken"] = token(
        "digest \(feed)", FeedCursor(position: place + page.count, base: head))
    }
    return Answer(status: 410, members)
  }

  func zoneChanges(
    _ question: Question, _ user: String, _ database: UserDatabase
  ) throws(Answer) -> Answer {
    var items: [[String: Any]] = []
    for asked in try question.items("zones") {
      let zone = ZoneID(asked["zoneID"], of: user)
      var item: [String: Any]
      do throws(Answer) {
        item = try zonePage(
          zone, after: asked["syncToken"] as? String, user, database, question.installation)
      } catch {
        item = error.members
      }
      item["zoneID"] = asked["zoneID"]
      items.append(item)
    }
    return Answer(["zones": items])
  }

  private func zonePage(
    _ zone: ZoneID?, after token: String?, _ user: String, _ database: UserDatabase,
    _ installation: UUID?
  ) throws(Answer) -> [String: Any] {
    guard let zone, let feed = zones[zone], feed.loss == nil,
      database == .private ? zone.owner == user : feed.participants.contains(user)
    else { throw Answer(status: 404, code: "ZONE_NOT_FOUND", reason: "no such zone") }
    let name = Self.feed(of: zone, user)
    guard let reader = try cursor(token, in: name, floor: feed.cleared, head: feed.head) else {
      throw Answer(status: 410, code: "CHANGE_TOKEN_EXPIRED", reason: "the token has expired")
    }
    let news = feed.records.filter { $0.value.entry.isNews(for: reader) }
      .sorted { $0.value.entry.position < $1.value.entry.position }
    let page = news.prefix(pageEntries)
    let isLast = page.count == news.count
    let end = isLast ? feed.head : page.last?.value.entry.position ?? feed.head
    if isLast, let installation { devices[installation]?.zones[zone] = nil }
    var item: [String: Any] = [
      "records": page.map { name, record in
        Self.item(name, record, isOwn: record.entry.isOwn(of: installation, for: reader))
      },
      "syncToken": self.token(name, reader.next(end, isLast: isLast)), "moreComing": !isLast,
    ]
    if feed.hasGap { item["gap"] = true }
    return item
  }

  private static func item(
    _ name: String, _ record: ZoneFeed.Record, isOwn: Bool
  ) -> [String: Any] {
    var item: [String: Any] = ["recordName": name, "own": isOwn]
    item["recordType"] = record.type
    item["recordChangeTag"] = record.tag
    if record.entry.isDeleted {
      item["deleted"] = true
    } else {
      item["modified"] = ["timestamp": record.modified]
    }
    return item
  }

  func notifications(_ question: Question, _ user: String) throws(Answer) -> Answer {
    let feed = "notifications of \(user)"
    let all = users[user]?.notifications ?? [:]
    let head = users[user]?.notificationsHead ?? 0
    guard let reader = try cursor(question.text("syncToken"), in: feed, floor: 0, head: head)
    else {
      var members = Answer.error("CHANGE_TOKEN_EXPIRED", "the token has expired")
      members["syncToken"] = token(feed, at: head)
      throw Answer(status: 410, members)
    }
    let news = all.values.filter { $0.entry.position > reader.position }
      .sorted { $0.entry.position < $1.entry.position }
    let page = news.prefix(pageEntries)
    let isLast = page.count == news.count
    if isLast, let installation = question.installation {
      devices[installation]?.hasNotifications = false
    }
    return Answer([
      "notifications": page.map { $0.json(for: question.installation, reader) },
      "syncToken": token(
        feed, reader.next(isLast ? head : page.last?.entry.position ?? head, isLast: isLast)),
      "moreComing": !isLast,
    ])
  }

  static func feed(of zone: ZoneID, _ user: String) -> String {
    "zone \(zone.owner) \(zone.name) of \(user)"
  }

  func token(_ feed: String, _ cursor: FeedCursor) -> String {
    cursor.token(of: feed, era: era)
  }

  /// The token of a reader who has caught up to this place.
  func token(_ feed: String, at position: Int) -> String {
    token(feed, FeedCursor(position: position, base: position))
  }

  /// Where the reader goes on; nil if its token has expired.
  private func cursor(
    _ text: String?, in feed: String, floor: Int, head: Int
  ) throws(Answer) -> FeedCursor? {
    var cursor = FeedCursor.start
    if let text {
      let token = try FeedCursor.read(text, of: feed)
      guard token.era == era, token.cursor.position >= floor else { return nil }
      cursor = token.cursor
    }
    if cursor.head == nil { cursor.head = head }
    return cursor
  }
}

extension UserFeeds.Notification {
  fileprivate func json(for installation: UUID?, _ reader: FeedCursor) -> [String: Any] {
    var item: [String: Any] = [
      "notificationID": id.uuidString.lowercased(), "subscriptionID": subscription,
      "notificationType": kind.rawValue, "database": database, "zoneID": zone.json,
      "own": entry.isOwn(of: installation, for: reader), "read": false,
    ]
    guard kind == .query else { return item }
    item["recordName"] = record
    item["queryNotificationReason"] =
      entry.isDeleted ? "deleted" : reader.base < entry.reborn ? "created" : "updated"
    return item
  }
}
