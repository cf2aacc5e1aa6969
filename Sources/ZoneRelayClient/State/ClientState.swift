internal import Foundation

/// All that the client keeps between launches. A token is stored only after its page was applied.
struct ClientState: Codable, Equatable {
  /// The form of the stored bytes.
  private(set) var form = Self.newestForm
  /// The installation's name at the relay. It stays when another user signs in.
  private(set) var installation = UUID()
  /// The user whose tokens these are; nil if no user is signed in.
  private(set) var user: String?
  private var databases: [String: String] = [:]
  private(set) var zones: [ZoneID: String] = [:]
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

  private static let newestForm = 1

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
        .badState, "the stored state has form \(form), and this app reads forms up to \(Self.newestForm)")
    }
  }

  var stored: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return try encoder.encode(self)
    }
  }

  /// The state of another user, or of no user: without any token of the earlier user. The first
  /// round of a user brings everything.
  mutating func change(to user: String?) {
    var new = ClientState()
    (new.installation, new.user) = (installation, user)
    if user != nil { new.wanted = .everything }
    self = new
  }

  func database(of zone: ZoneID) -> UserDatabase {
    zone.owner.hasSameBytes(as: user ?? "") ? .private : .shared
  }

  subscript(database: UserDatabase) -> String? {
    get { databases[database.rawValue] }
    set { databases[database.rawValue] = newValue }
  }

  /// The zone was read up to this token.
  mutating func read(_ zone: ZoneID, to token: String) {
    zones[zone] = token
    waiting[zone] = nil
  }

  /// The zone must be read anew, or is gone.
  mutating func forget(_ zone: ZoneID) {
    zones[zone] = nil
    waiting[zone] = nil
  }

  /// When the first of the waiting zones may be fetched; nil if none waits.
  var waitsUntil: Date? { waiting.values.min().map { Date(timeIntervalSince1970: $0) } }
}

extension ClientState {
  /// Adds what the app asks for to what the next round must bring.
  mutating func want(_ scope: Scope) {
    wanted.add(FetchPlan(scope))
    // The app asks for this very zone, so the zone waits no longer.
    if case .zone(let zone) = scope { waiting[zone] = nil }
  }

  /// Adds what a wake names to what the next round must bring. A number that was left out means
  /// that a push may have been missed; a lower number, that the relay counts anew.
  ///
  /// - Returns: false if the wake belongs to another user; then nothing is changed.
  mutating func note(_ wake: Wake) -> Bool {
    guard let user, wake.user.hasSameBytes(as: user) else { return false }
    let isNext = wake.number == lastWake || (wake.number > lastWake && wake.number - lastWake == 1)
    lastWake = wake.number
    var plan = isNext && !wake.hasMore ? FetchPlan() : .everything
    if wake.hasNotifications {
      plan.notifications = true
      notificationsWaitUntil = wake.notBefore?.timeIntervalSince1970
    }
    for zone in wake.zones {
      if zone.waits, let time = wake.notBefore {
        waiting[zone.id] = time.timeIntervalSince1970
      } else {
        waiting[zone.id] = nil
        plan.zones.insert(zone.id)
      }
    }
    wanted.add(plan)
    return true
  }

  /// Begins a round: it brings what is wanted, and the waiting zones whose time has come.
  mutating func beginRound(at now: Date) {
    fetching.add(wanted)
    wanted = FetchPlan()
    let time = now.timeIntervalSince1970
    for (zone, until) in waiting where until <= time || fetching.passesWaits {
      fetching.zones.insert(zone)
      waiting[zone] = nil
    }
    if let until = notificationsWaitUntil, until <= time { notificationsWaitUntil = nil }
  }

  mutating func endRound() { fetching = FetchPlan() }

  /// The round has failed, so that the next round must bring what this one did not.
  mutating func failRound() {
    wanted.add(fetching)
    fetching = FetchPlan()
  }

  /// The notifications before the present ones are lost, so that the round must read the databases.
  mutating func lostNotifications() { fetching.databases = Set(UserDatabase.allCases) }

  /// Whether the zone must not be fetched yet.
  func waits(_ zone: ZoneID) -> Bool { waiting[zone] != nil }
}
