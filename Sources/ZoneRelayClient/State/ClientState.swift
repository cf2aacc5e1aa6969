internal import Foundation

/// All that the client keeps between launches. A token is stored only after its page was applied.
struct ClientState: Codable, Equatable {
  /// The form of the stored bytes.
  private(set) var form = Self.newestForm
  /// The installation's name at the relay. It stays when another user signs in.
  private(set) var installation = UUID()
  /// The container and environment to which the tokens belong; nil until `enter` is called.
  private var place: String?
  /// The user whose tokens these are; nil if no user is signed in.
  private(set) var user: String?
  private var databases: [String: String] = [:]
  /// The zones that a database has named, each with its token. An empty text means that the zone
  /// must be read from its start.
  private(set) var zones: [ZoneID: String] = [:]
  /// Zones that are being read for the first time, and that the stored token of their database does
  /// not cover yet. The sink may already have pages of these zones.
  private var begun: Set<ZoneID> = []
  var notifications: String?
  /// The number of the newest wake; 0 if there was none.
  private(set) var lastWake: UInt32 = 0
  /// What the next round must bring.
  private(set) var wanted = FetchPlan()
  /// What the running round must bring. After a crash or a failure the next round brings it.
  private(set) var fetching = FetchPlan()
  /// Zones that must not be fetched before a time, in seconds since 1970.
  private var waiting: [ZoneID: Double] = [:]
  /// The time before which records that notifications point to must not be fetched.
  private(set) var notificationsWaitUntil: Double?

  /// Whether the sink is about to learn of another user.
  private(set) var isChanging = false

  private static let newestForm = 1
  private static let longestWaitSeconds = 86_400.0

  init() {}

  init(stored: Data?) throws {
    guard let stored else { return }
    do {
      self = try JSONDecoder().decode(ClientState.self, from: stored)
    } catch {
      throw RelayError(.badState, "the stored state cannot be read: \(error)")
    }
    guard form <= Self.newestForm else {
      throw RelayError(
        .badState,
        "the stored state has form \(form), and this app reads forms up to \(Self.newestForm)")
    }
  }

  var stored: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return try encoder.encode(self)
    }
  }

  /// Notes the container and environment that the client talks to. If they are not the same as
  /// before, the old tokens and the sink's copy are of no use, so the sink must learn of the change
  /// as it learns of another user.
  mutating func enter(_ place: String) {
    if let old = self.place, old != place, user != nil { beginChange() }
    self.place = place
  }

  /// The sink is about to learn of another user. No token stays: the next user's first round then
  /// reads everything, even if the process ends before the sink has set the copy aside, or soon
  /// after.
  mutating func beginChange() {
    let user = user
    change(to: nil)
    (self.user, isChanging) = (user, true)
  }

  /// The sink knows the new user, or that there is none. The first round of a user brings
  /// everything.
  mutating func change(to user: String?) {
    var new = ClientState()
    (new.installation, new.place, new.user) = (installation, place, user)
    if user != nil { new.wanted = .everything }
    self = new
  }

  /// Whether both states are equal, apart from `fetching` and `wanted`.
  func hasReadAsMuch(as other: ClientState) -> Bool {
    var other = other
    (other.wanted, other.fetching) = (wanted, fetching)
    return self == other
  }

  /// Whether this user is signed in.
  func isOf(_ user: String) -> Bool { self.user?.hasSameBytes(as: user) ?? false }

  func database(of zone: ZoneID) -> UserDatabase {
    isOf(zone.owner) ? .private : .shared
  }

  subscript(database: UserDatabase) -> String? { databases[database.rawValue] }

  /// The database was read up to this token, with these zones.
  mutating func read(
    _ database: UserDatabase, to token: String, naming zones: some Sequence<ZoneID>
  ) {
    databases[database.rawValue] = token
    begun.subtract(zones)
  }

  /// When the first of the waiting zones may be fetched; nil if none waits.
  var waitsUntil: Date? { waiting.values.min().map { Date(timeIntervalSince1970: $0) } }
}

extension ClientState {
  /// The zone's token; nil if the zone must be read from its start.
  func token(of zone: ZoneID) -> String? { zones[zone].flatMap { $0.isEmpty ? nil : $0 } }

  /// These zones are about to be read, because their database names them. If the process ends
  /// before the database's token is stored, and a zone is gone by then, the database does not name
  /// the zone again: so `begun` remembers the zone, and a later round removes it from the sink's
  /// copy.
  ///
  /// - Returns: whether the state must be stored before the zones are read.
  mutating func begin(_ batch: [ZoneID]) -> Bool {
    let new = batch.filter { zones[$0] == nil }
    begun.formUnion(new)
    return !new.isEmpty
  }

  /// The zone was read up to this token.
  ///
  /// If a wake during this round has set a time before which the zone must not be fetched, this
  /// time is kept: this page may be from before the wake.
  mutating func read(_ zone: ZoneID, to token: String) { zones[zone] = token }

  /// A database's page names the zone, and a wake has set a time before which the zone must not be
  /// fetched.
  mutating func postpone(_ zone: ZoneID) {
    if zones[zone] == nil { zones[zone] = "" }
  }

  /// The relay refuses to give the zone now, so each later round asks for it again. Its database
  /// need not name it again.
  mutating func refuse(_ zone: ZoneID) {
    postpone(zone)
    fetching.zones.remove(zone)
    wanted.zones.insert(zone)
  }

  /// The zone's token has expired, so the zone must be read from its start.
  mutating func expire(_ zone: ZoneID) {
    zones[zone] = ""
    fetching.zones.insert(zone)
  }

  /// Whether the zone was read, or is being read for the first time.
  func holds(_ zone: ZoneID) -> Bool { zones[zone] != nil || begun.contains(zone) }

  /// The user does not have the zone any more. A time before which the zone must not be fetched is
  /// kept, because a wake may have set it during this round.
  mutating func lose(_ zone: ZoneID) {
    zones[zone] = nil
    begun.remove(zone)
    fetching.zones.remove(zone)
  }

  /// Zones that were read for the first time in an earlier round, and that their database does not
  /// name any more.
  func lost(from database: UserDatabase) -> [ZoneID] {
    begun.filter { self.database(of: $0) == database }.sorted()
  }

  /// Zones of a database that its digest does not name.
  func zones(of database: UserDatabase, without present: Set<ZoneID>) -> [ZoneID] {
    zones.keys.filter { !present.contains($0) && self.database(of: $0) == database }.sorted()
  }

  /// Known zones of a database that the round must ask for by name.
  func named(in database: UserDatabase) -> [ZoneID] {
    fetching.zones.filter {
      zones[$0] != nil && !waits($0) && self.database(of: $0) == database
    }.sorted()
  }

  /// Whether the zone must not be fetched yet.
  func waits(_ zone: ZoneID) -> Bool { waiting[zone] != nil }
}

extension ClientState {
  /// Adds what the app asks for to what the next round must bring.
  ///
  /// A zone for which the app itself asks waits no longer.
  mutating func want(_ scope: Scope) {
    switch scope {
    case .everything:
      wanted.add(.everything)
      wanted.zones.formUnion(waiting.keys)
      waiting = [:]
    case .zone(let named):
      let zone = user.map { named.resolved(for: $0) } ?? named
      wanted.zones.insert(zone)
      waiting[zone] = nil
    case .database(let database): wanted.databases.insert(database)
    case .notifications: wanted.notifications = true
    }
  }

  /// Adds what a wake names to what the next round must bring. The next round must bring everything
  /// if the push could not name all, if a number was left out (a push may have been missed), or if
  /// the number is lower than the last one (the relay counts anew).
  ///
  /// - Returns: false if the wake belongs to another user; then nothing is changed.
  mutating func note(_ wake: Wake, at now: Date) -> Bool {
    guard isOf(wake.user) else { return false }
    let isNext = wake.number == lastWake || (wake.number > lastWake && wake.number - lastWake == 1)
    lastWake = wake.number
    var plan = isNext && !wake.hasMore ? FetchPlan() : .everything
    let until = wake.notBefore.map(\.timeIntervalSince1970).flatMap {
      Self.isWait($0, at: now) ? $0 : nil
    }
    if wake.hasNotifications {
      plan.notifications = true
      notificationsWaitUntil = until
    }
    for zone in wake.zones {
      if zone.waits, let until {
        waiting[zone.id] = until
      } else {
        waiting[zone.id] = nil
        plan.zones.insert(zone.id)
      }
    }
    wanted.add(plan)
    return true
  }

  /// Whether this time, in seconds since 1970, is a reason to wait. No relay asks for a wait of
  /// more than a day, so a longer one means that the device's clock is or was wrong.
  private static func isWait(_ until: Double, at now: Date) -> Bool {
    let wait = until - now.timeIntervalSince1970
    return wait > 0 && wait <= longestWaitSeconds
  }

  /// Begins a round: it brings what is wanted, and the waiting zones whose time has come.
  ///
  /// A zone that no database has named yet is read through its database. Otherwise the database
  /// would never tell the client that the zone has ended: a feed leaves out a zone that was created
  /// and deleted since the token.
  mutating func beginRound(at now: Date) {
    fetching.add(wanted)
    wanted = FetchPlan()
    for (zone, until) in waiting where !Self.isWait(until, at: now) {
      fetching.zones.insert(zone)
      waiting[zone] = nil
    }
    if let until = notificationsWaitUntil, !Self.isWait(until, at: now) {
      notificationsWaitUntil = nil
    }
    for zone in fetching.zones.union(begun) where zones[zone] == nil {
      fetching.databases.insert(database(of: zone))
    }
  }

  mutating func endRound() { fetching = FetchPlan() }

  /// The round has failed, so that the next round must bring what this one did not.
  mutating func failRound() {
    wanted.add(fetching)
    fetching = FetchPlan()
  }

  /// The database was read to its end, with all the zones that it named except those that must
  /// wait. Zones in `fetching` that the database did not name stay there: the database named them
  /// in an earlier round, when they had to wait.
  mutating func didRead(_ database: UserDatabase) { fetching.databases.remove(database) }

  /// The zone was read to its end in this round.
  mutating func didRead(_ zone: ZoneID) { fetching.zones.remove(zone) }

  /// Call this when older notifications are lost: the round must then read the databases.
  mutating func lostNotifications() { fetching.databases = Set(UserDatabase.allCases) }
}
