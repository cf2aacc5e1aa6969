internal import Foundation

/// All that the client keeps between launches. A token is stored only after its page was applied.
struct ClientState: Codable, Equatable {
  /// The form of the stored bytes.
  private(set) var form = Self.newestForm
  /// The installation's name at the relay. It stays when another user signs in.
  private(set) var installation = UUID()
  /// The user whose tokens these are; nil if nobody is signed in.
  private(set) var user: String?
  var databases: [String: String] = [:]
  var zones: [ZoneID: String] = [:]
  var notifications: String?
  /// The highest number of a wake that was handled; 0 if there was none.
  private(set) var lastWake: UInt32 = 0
  /// What wakes have named and no fetch has brought yet.
  var deferred = FetchPlan()
  /// Zones that must not be fetched before a time, in seconds since 1970.
  var waiting: [ZoneID: Double] = [:]

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
      throw RelayError(.badState, "the stored state is of form \(form), which is newer than this app")
    }
  }

  var stored: Data {
    get throws {
      let encoder = JSONEncoder()
      encoder.outputFormatting = .sortedKeys
      return try encoder.encode(self)
    }
  }

  /// The state of another user, or of nobody: without any token of the earlier user.
  mutating func change(to user: String?) {
    var new = ClientState()
    (new.installation, new.user) = (installation, user)
    self = new
  }

  func database(of zone: ZoneID) -> UserDatabase { zone.owner == user ? .private : .shared }

  /// What a wake asks for. A number that was left out means that a push may have been missed.
  ///
  /// - Returns: nil if the wake belongs to another user.
  mutating func plan(of wake: Wake) -> FetchPlan? {
    guard wake.user == user else { return nil }
    let isMissing = wake.number > lastWake && wake.number - lastWake > 1
    lastWake = max(lastWake, wake.number)
    guard !isMissing, !wake.hasMore else { return .everything }
    var plan = FetchPlan()
    plan.notifications = wake.hasNotifications
    for zone in wake.zones {
      if zone.waits, let time = wake.notBefore {
        waiting[zone.id] = time.timeIntervalSince1970
      } else {
        plan.zones.insert(zone.id)
      }
    }
    return plan
  }

  /// Moves zones whose time has come from those that wait into the result.
  mutating func takeDue(at now: Date) -> Set<ZoneID> {
    let due = waiting.filter { $0.value <= now.timeIntervalSince1970 }
    for zone in due.keys { waiting[zone] = nil }
    return Set(due.keys)
  }

  /// When the last of the waiting zones may be fetched; nil if none waits.
  var waitsUntil: Date? { waiting.values.max().map { Date(timeIntervalSince1970: $0) } }
}
