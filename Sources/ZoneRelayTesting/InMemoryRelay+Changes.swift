public import Foundation
public import ZoneRelayClient

/// What the record server reports. Each call wakes the devices whose subscriptions fire.
extension InMemoryRelay {
  /// A record was created or updated. An unknown or deleted zone is created with the record.
  ///
  /// - Parameter installation: the installation that made the change and is not woken by the
  ///   change.
  public func save(_ record: TestRecord, in zone: ZoneID, by installation: UUID? = nil) {
    begin(zone)
    let isNew = zones[zone]?.records[record.name]?.entry.isDeleted ?? true
    change(record, in: zone, isDeleted: false, by: installation)
    report(
      ReportedChange(
        zone: zone, record: record, verb: isNew ? "create" : "update", device: installation))
  }

  /// A record was deleted. A record that the relay does not know stays unknown.
  public func delete(_ name: String, in zone: ZoneID, by installation: UUID? = nil) {
    guard let old = zones[zone]?.records[name], !old.entry.isDeleted else { return }
    let record = TestRecord(name, type: old.type ?? "", changeTag: old.tag ?? "")
    change(record, in: zone, isDeleted: true, by: installation)
    report(ReportedChange(zone: zone, record: record, verb: "delete", device: installation))
  }

  /// A zone was created, without records.
  public func create(_ zone: ZoneID) {
    begin(zone)
    report(ReportedChange(zone: zone, verb: "create"))
  }

  /// A zone ended, and with the zone all its records and shares.
  public func end(_ zone: ZoneID, _ loss: ZoneLoss = .deleted) {
    guard let old = zones[zone], old.loss == nil else { return }
    zones[zone]?.end(loss, at: next())
    list(zone, for: zone.owner, .private, loss: loss)
    for user in old.participants.sorted() { list(zone, for: user, .shared, loss: loss) }
    report(ReportedChange(zone: zone, verb: "delete"), participants: old.participants)
  }

  /// A zone was shared with a user, or withdrawn from one.
  public func share(_ zone: ZoneID, with user: String, _ isShared: Bool = true) {
    guard user != zone.owner else { return }
    begin(zone)
    if isShared {
      guard zones[zone]?.participants.insert(user).inserted == true else { return }
    } else {
      guard zones[zone]?.participants.remove(user) != nil else { return }
    }
    _ = next()
    list(zone, for: user, .shared, loss: isShared ? nil : .unseen)
    notify(
      user, .shared, ReportedChange(zone: zone, verb: isShared ? "create" : "delete"))
  }

  /// All tokens given so far expire.
  public func expireTokens() { era += 1 }

  /// Sets whether the pages of a zone say that changes are missing.
  public func setGap(_ hasGap: Bool, in zone: ZoneID) { zones[zone]?.hasGap = hasGap }

  /// Creates the zone, unless the zone exists.
  private func begin(_ zone: ZoneID) {
    if zones[zone]?.loss == nil, zones[zone] != nil { return }
    zones[zone] = ZoneFeed(cleared: zones[zone]?.cleared ?? 0)
    _ = next()
    list(zone, for: zone.owner, .private, loss: nil)
  }

  private func change(
    _ record: TestRecord, in zone: ZoneID, isDeleted: Bool, by device: UUID?
  ) {
    let position = next()
    var known = zones[zone]?.records[record.name] ?? ZoneFeed.Record()
    known.entry.change(at: position, by: device, isDeleted: isDeleted)
    (known.type, known.tag, known.modified) = (record.type, record.changeTag, position)
    zones[zone]?.records[record.name] = known
    list(zone, for: zone.owner, .private, loss: nil, by: device)
    for user in zones[zone]?.participants.sorted() ?? [] {
      list(zone, for: user, .shared, loss: nil, by: device)
    }
  }

  /// Lists a zone in a user's database feed, at the position of the newest change.
  private func list(
    _ zone: ZoneID, for user: String, _ database: UserDatabase, loss: ZoneLoss?,
    by device: UUID? = nil
  ) {
    var known = users[user]?.databases[database]?[zone] ?? UserFeeds.Zone()
    known.entry.change(at: position, by: device, isDeleted: loss != nil)
    known.loss = loss
    users[user, default: UserFeeds()].databases[database, default: [:]][zone] = known
  }

  /// - Parameter participants: the users with whom the zone was shared before the change; nil means
  ///   those with whom it is shared now.
  private func report(_ change: ReportedChange, participants: Set<String>? = nil) {
    notify(change.zone.owner, .private, change)
    let others = participants ?? zones[change.zone]?.participants ?? []
    for user in others.sorted() { notify(user, .shared, change) }
  }

  private func notify(_ user: String, _ database: UserDatabase, _ change: ReportedChange) {
    let saved = users[user]?.subscriptions[database.rawValue] ?? [:]
    for (id, subscription) in saved.sorted(by: { $0.key < $1.key })
    where subscription.fires(for: change) {
      log(change, id, subscription, for: user, database)
      wake(user, database, change, isQuery: subscription.kind == .query)
    }
  }

  private func log(
    _ change: ReportedChange, _ id: String, _ subscription: SavedSubscription, for user: String,
    _ database: UserDatabase
  ) {
    let record = subscription.kind == .query ? change.record?.name : nil
    let subject = "\(id) \(change.zone.owner) \(change.zone.name) \(record ?? "")"
    var known =
      users[user]?.notifications[subject] ?? UserFeeds.Notification(zone: change.zone)
    known.entry.change(at: position, by: change.device, isDeleted: change.verb == "delete")
    (known.id, known.subscription, known.kind) = (UUID(), id, subscription.kind)
    (known.record, known.database) = (record, database.rawValue)
    users[user]?.notifications[subject] = known
  }

  private func wake(
    _ user: String, _ database: UserDatabase, _ change: ReportedChange, isQuery: Bool
  ) {
    for (installation, device) in devices
    where device.user == user && installation != change.device {
      if isQuery {
        devices[installation]?.hasNotifications = true
      } else {
        devices[installation]?.zones[change.zone] = database
      }
      devices[installation]?.hasNews = true
      endPoll(of: installation)
    }
  }
}

extension InMemoryRelay {
  /// All zones that a user may see, each with the change tags of its records by name: what the
  /// user's copy must be after a fetch.
  public func visibleZones(of user: String) -> [ZoneID: [String: String]] {
    zones.filter { zone, feed in
      feed.loss == nil && (zone.owner == user || feed.participants.contains(user))
    }.mapValues { feed in
      feed.records.filter { !$0.value.entry.isDeleted }.mapValues { $0.tag ?? "" }
    }
  }
}
