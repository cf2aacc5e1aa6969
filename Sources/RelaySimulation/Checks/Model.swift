import RelayCore

/// The expected state of the world, computed without merging, paging or crashes: every durable fact
/// is applied one by one to plain dictionaries. Checks of P1, P2, P4, P5, P8 and P9 compare the
/// relay with this model.
struct Model {
  struct Zone {
    var isAlive = false
    var records: [String: String?] = [:]
    var grants: Set<UserID> = []
    /// How many grants, revocations and ends the zone has had. Two equal counts mean that none of
    /// these happened in between.
    var turns = 0
    /// Every record reported since the zone last ended, deleted records included.
    var known: Set<String> = []
  }

  struct Held {
    var subscription: Subscription
    var ordinal: Ordinal
  }

  struct Logged {
    var notification: Identifier
    var isPresent: Bool
    var isRead = false
  }

  let scope: Scope
  let limits: Limits
  private(set) var fingerprints: Set<UInt64> = []
  private(set) var zones: [ZoneID: Zone] = [:]
  private(set) var shared: [UserID: Set<ZoneID>] = [:]
  private(set) var subscriptions: [UserID: [Held]] = [:]
  private(set) var notifications: [UserID: [Subject: Logged]] = [:]
  /// For each accepted change, the feeds and positions at which the change must appear.
  private(set) var shownAt: [UInt64: [(FeedKey, Position)]] = [:]
  private(set) var authors: [Identifier: Change.Author] = [:]
  /// For each share, the fingerprint of the change that last granted or ended the share.
  private(set) var lastWord: [WorldObserver.Share: UInt64] = [:]
  /// For each user, which pending wakes were withdrawn, and by which fact.
  private(set) var withdrawn: [UserID: [Withdrawal: Ordinal]] = [:]
  /// Users whose notifications depend on the order of slices; the checkers do not compare these
  /// notifications.
  private(set) var fuzzy: Set<UserID> = []
  private(set) var numbers: [ZoneID: Numbers] = [:]
  /// How many late changes had no effect, because a change with a higher number came before.
  private(set) var settled = 0
  /// The change that the last fact brought to its partition; `nil` if it brought none.
  private(set) var arrival: SeenChange?
  private(set) var heard: [PartitionID: [Hearing: Position]] = [:]

  /// - Parameter isFanningOut: true if slices of an earlier change are still to come in this
  ///   partition.
  mutating func apply(_ row: JournalEntry, isFanningOut: Bool) {
    arrival = nil
    switch row.fact {
    case .change(let change): take(change, row, isFanningOut)
    case .modify(let request): modify(request, row, isFanningOut)
    case .forwarded(let forwarded):
      let hearing = Hearing(source: forwarded.source, track: Track(of: forwarded.serial))
      let last = heard[row.partition]?[hearing]
      if let last, forwarded.serial <= last { return }
      heard[row.partition, default: [:]][hearing] = forwarded.serial
      if case .change(let change, let position) = forwarded.message {
        arrival = SeenChange(change, row, zonePosition: position, self)
        hear(change, row, isFanningOut)
      }
    case .markRead(let request): markRead(request)
    case .register, .unregister, .slice, .expireTokens, .lostHistory, .setBadge, .tick, .forget:
      break
    }
  }

  func isEntitled(_ user: UserID, to zone: ZoneID) -> Bool {
    zone.owner == user || zones[zone]?.grants.contains(user) == true
  }

  private func feed(_ kind: FeedKey.Kind) -> FeedKey { FeedKey(scope: scope, kind: kind) }

  private mutating func take(_ change: Change, _ row: JournalEntry, _ isFanningOut: Bool) {
    guard fingerprints.insert(change.fingerprint).inserted else { return }
    authors[change.notification] = change.author
    arrival = SeenChange(change, row, zonePosition: Position(row.ordinal), self)
    guard numbers[change.zone, default: Numbers()].hear(change) else {
      settled += 1
      arrival?.isSuperseded = true
      return
    }
    let position = Position(row.ordinal)
    if change.database == .public { return hear(change, row, isFanningOut) }
    var zone = zones[change.zone] ?? Zone()
    switch change.event {
    case .record(let record):
      if !change.zone.isDefault {
        var shown = [(feed(.database(change.zone.owner, .private)), position)]
        let isKnown = zone.known.contains(record.name)
        if record.verb != .deleted || !isKnown || zone.records[record.name] != nil {
          shown.append((feed(.zone(change.zone)), position))
        }
        shownAt[change.fingerprint] = shown
        zone.isAlive = true
        zone.known.insert(record.name)
        zone.records[record.name] = record.verb == .deleted ? nil : .some(record.tag)
      }
      zones[change.zone] = zone
      notify(change.zone.owner, change, .private, row)
    case .zone(.created):
      if !change.zone.isDefault {
        zone.isAlive = true
        shownAt[change.fingerprint] = [(feed(.database(change.zone.owner, .private)), position)]
      }
      zones[change.zone] = zone
      notify(change.zone.owner, change, .private, row)
    case .zone:
      guard !change.zone.isDefault else { return }
      end(change, &zone, row)
    case .granted(let user), .revoked(let user):
      guard user != change.zone.owner else { return }
      if case .granted = change.event {
        zone.grants.insert(user)
        if !change.zone.isDefault { zone.isAlive = true }
      } else {
        zone.grants.remove(user)
      }
      lastWord[WorldObserver.Share(zone: change.zone, user: user)] = change.fingerprint
      zone.turns += 1
      zones[change.zone] = zone
    }
    hear(change, row, isFanningOut)
  }

  private mutating func end(_ change: Change, _ zone: inout Zone, _ row: JournalEntry) {
    let owner = change.zone.owner
    numbers[change.zone]?.end(by: change)
    withdrawn[owner, default: [:]][.zone(change.zone, .private)] = row.ordinal
    notify(owner, change, .private, row)
    for held in subscriptions[owner] ?? [] {
      guard case .zone(change.zone, _) = held.subscription.rule else { continue }
      withdrawn[owner, default: [:]][.subscription(held.subscription.id, .private)] = row.ordinal
    }
    subscriptions[owner]?.removeAll {
      if case .zone(change.zone, _) = $0.subscription.rule { true } else { false }
    }
    for user in zone.grants {
      lastWord[WorldObserver.Share(zone: change.zone, user: user)] = change.fingerprint
    }
    zone = Zone(turns: zone.turns + 1)
    zones[change.zone] = zone
  }

  /// Notes what a change means for the zone's participants, or for the public subscribers, of one
  /// partition.
  private mutating func hear(_ change: Change, _ row: JournalEntry, _ isFanningOut: Bool) {
    func lives(_ user: UserID) -> Bool { PartitionID.home(of: user, in: scope) == row.partition }
    if change.database == .public {
      for user in subscriptions.keys.sorted() where lives(user) {
        notify(user, change, .public, row)
      }
      return
    }
    let members = shared.keys.sorted().filter {
      lives($0) && shared[$0]?.contains(change.zone) == true
    }
    switch change.event {
    case .granted(let user):
      guard lives(user), user != change.zone.owner, !members.contains(user) else { return }
      shared[user, default: []].insert(change.zone)
      notify(user, change, .shared, row)
    case .revoked(let user):
      guard members.contains(user) else { return }
      leave(user, change, row, isFanningOut)
    case .zone(let end) where end != .created:
      for user in members { leave(user, change, row, isFanningOut) }
    case .record, .zone:
      for user in members { notify(user, change, .shared, row) }
    }
  }

  private mutating func leave(
    _ user: UserID, _ change: Change, _ row: JournalEntry, _ isFanningOut: Bool
  ) {
    shared[user]?.remove(change.zone)
    if isFanningOut { fuzzy.insert(user) }
    withdrawn[user, default: [:]][.zone(change.zone, .shared)] = row.ordinal
    notify(user, change, .shared, row)
  }

  private mutating func notify(
    _ user: UserID, _ change: Change, _ database: Database, _ row: JournalEntry
  ) {
    for held in subscriptions[user] ?? [] where held.subscription.database == database {
      guard held.ordinal < row.ordinal, held.subscription.fires(for: change) else { continue }
      arrival?.fire(held.subscription, of: user, database)
      var record: String?
      var isPresent = change.isPresent
      if case .record(let what) = change.event, case .query = held.subscription.rule {
        record = what.name
        isPresent = what.verb != .deleted
      }
      let subject = Subject.notification(
        held.subscription.id, zone: change.zone, record: record)
      let known = notifications[user]?[subject]
      if held.subscription.firesOnce { spend(held, of: user) }
      if !isPresent, known?.isPresent == false { continue }
      notifications[user, default: [:]][subject] = Logged(
        notification: change.notification, isPresent: isPresent)
    }
  }

  private mutating func spend(_ held: Held, of user: UserID) {
    subscriptions[user]?.removeAll {
      $0.subscription.id == held.subscription.id
        && $0.subscription.database == held.subscription.database
    }
  }

  private mutating func markRead(_ request: ReadRequest) {
    for (subject, logged) in notifications[request.user] ?? [:]
    where request.notifications.contains(logged.notification) {
      notifications[request.user]?[subject]?.isRead = true
    }
  }

  private mutating func modify(
    _ request: SubscriptionsRequest, _ row: JournalEntry, _ isFanningOut: Bool
  ) {
    if isFanningOut { fuzzy.insert(request.user) }
    for operation in request.operations {
      var held = subscriptions[request.user] ?? []
      switch operation {
      case .save(let new):
        let place = held.firstIndex {
          $0.subscription.id == new.id && $0.subscription.database == new.database
        }
        let twin = held.contains {
          $0.subscription.id != new.id && $0.subscription.isDuplicate(of: new)
        }
        if twin { continue }
        let others = held.enumerated().filter { $0.offset != place }
        let bytes = others.reduce(new.bytes) { $0 + $1.element.subscription.bytes }
        let isSame = place.map { held[$0].subscription == new } ?? false
        if !isSame, bytes > limits.subscriptionBytesPerUser { continue }
        if let place {
          held[place].subscription = new
        } else if held.count < limits.subscriptionsPerUser {
          held.append(Held(subscription: new, ordinal: row.ordinal))
        }
      case .delete(let id):
        let place = held.firstIndex {
          $0.subscription.id == id && $0.subscription.database == request.database
        }
        // A subscription that fires once is gone when it has fired. To delete it then withdraws
        // no notification.
        guard let place else { continue }
        held.remove(at: place)
        withdrawn[request.user, default: [:]][.subscription(id, request.database)] = row.ordinal
      }
      subscriptions[request.user] = held
    }
  }
}

extension Change {
  /// Whether the users whom the change concerns still have its zone after the change.
  fileprivate var isPresent: Bool {
    switch event {
    case .record, .granted, .zone(.created): true
    case .zone, .revoked: false
    }
  }
}
