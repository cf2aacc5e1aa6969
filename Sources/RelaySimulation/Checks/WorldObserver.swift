import RelayCore

/// What the checkers remember of the world, beside the model.
struct WorldObserver {
  struct Share: Hashable {
    var zone: ZoneID
    var user: UserID
  }

  struct ShownAlert: Hashable {
    var device: DeviceKey
    var notification: String?
    var subscription: String?
  }

  /// What a push or a page told a device of, and up to which fact.
  struct Told {
    var zones: [PushText.ZoneRef: Ordinal] = [:]
    var query = Ordinal.zero
    var many = Ordinal.zero
    var alerts: [String: Ordinal] = [:]
    /// A wake said that alerts were replaced.
    var lostAlerts = Ordinal.zero
    var notifications = Position.zero
    /// What alerts of the courier named beside themselves: told once the device acknowledges them.
    var beside: [UInt32: (text: PushText, ordinal: Ordinal)] = [:]

    mutating func tell(_ text: PushText, _ ordinal: Ordinal) {
      for zone in text.zones { zones[zone] = max(zones[zone] ?? .zero, ordinal) }
      if text.hasQuery { query = max(query, ordinal) }
      if text.isMore { many = max(many, ordinal) }
    }
  }

  /// Feeds and where a read begun now must at least arrive (P4).
  private(set) var shown: [FeedKey: Position] = [:]
  private(set) var accepted: [UInt64] = []
  /// Shares whose end, or whose beginning, was answered (P9).
  var revoked: Set<Share> = []
  private(set) var granted: Set<Share> = []
  private(set) var inFlight: [DeviceKey: PushAttempt.ID] = [:]
  /// Devices that a push found in some environment since they registered, in this life.
  private(set) var found: Set<DeviceKey> = []
  private var renewed: Set<DeviceKey> = []
  private(set) var attempts: [DeviceKey: [(at: Instant, intent: Push.Intent)]] = [:]
  private(set) var told: [DeviceKey: Told] = [:]
  /// Devices that ever acknowledged anything.
  private(set) var acknowledging: Set<DeviceKey> = []
  /// The fact since which a device's lane has been as it is.
  private(set) var since: [DeviceKey: Ordinal] = [:]
  private(set) var retired: Set<DeviceKey> = []
  /// Alerts that the courier took in this life: they are not shown again.
  private var shownAlerts: Set<ShownAlert> = []
  private var registrations: [DeviceKey: Ordinal] = [:]
  /// Registrations of a device that were stepped and not answered yet.
  private var unanswered: [DeviceKey: Int] = [:]
  /// The newest registration of each address, and when; nil in a tie.
  private var claims: [Address: (key: DeviceKey?, at: Instant)] = [:]
  /// Whose an address is by an answered registration that none has followed.
  private(set) var owners: [Address: DeviceKey] = [:]
  var crashes: [Instant] = []
  /// When the relay's time caught up with the clock.
  var corrections: [Instant] = []
  /// As last told, for people.
  var ledgers: [PartitionID: Ledger] = [:]
  /// Something old was removed from the store.
  var hasTrimmed = false

  func isRevoked(_ user: UserID, _ feed: FeedKey) -> Bool {
    guard case .zone(let zone) = feed.kind else { return false }
    return revoked.contains(Share(zone: zone, user: user))
  }

  mutating func lifeBegan(at now: Instant, recovered store: SimulatedStore) {
    (inFlight, shownAlerts, found) = ([:], [], [])
  }

  /// A restore takes back what was answered; clients cannot know. Devices begin anew.
  mutating func restored(_ store: SimulatedStore) {
    (shown, accepted, revoked, granted) = ([:], [], [], [])
    (attempts, told, claims, owners, unanswered) = ([:], [:], [:], [:], [:])
    // Whether they were retired then nobody knows: their next registration counts.
    retired = Set(since.keys)
  }

  /// A change was answered: P1 from here on, P4 for reads begun from here on.
  mutating func accepted(_ change: Change, _ model: Model) throws {
    guard model.fingerprints.contains(change.fingerprint) else {
      throw InvariantViolation(
        .nothingAcknowledgedIsLost, "accepted and not durable: \(change.fingerprint)")
    }
    accepted.append(change.fingerprint)
    for (feed, position) in model.shownAt[change.fingerprint] ?? [] {
      shown[feed] = max(shown[feed] ?? .zero, position)
    }
    // Later words on a share may be durable and not answered yet: then nothing is promised.
    switch change.event {
    case .granted(let user):
      let share = Share(zone: change.zone, user: user)
      if model.lastWord[share] == change.fingerprint { granted.insert(share) }
    case .revoked(let user):
      let share = Share(zone: change.zone, user: user)
      if model.lastWord[share] == change.fingerprint { revoked.insert(share) }
    case .zone:
      for (share, word) in model.lastWord where word == change.fingerprint {
        revoked.insert(share)
      }
    case .record: break
    }
  }

  mutating func stepped(_ row: JournalEntry, _ effects: [Effect]) {
    switch row.fact {
    case .change(let change):
      switch change.event {
      case .revoked(let user): granted.remove(Share(zone: change.zone, user: user))
      case .zone(let end) where end != .created:
        granted = granted.filter { $0.zone != change.zone }
      default: break
      }
    case .register(let request):
      guard case .answer(_, _, .registered, _)? = effects.last else { return }
      let key = DeviceKey(scope: request.scope, user: request.user, client: request.client)
      claim(request.address.place, key, row.at)
      found.remove(key)
      renewed.insert(key)
      registrations[key] = row.ordinal
      unanswered[key, default: 0] += 1
      if since[key] == nil { (attempts[key], inFlight[key], told[key]) = (nil, nil, nil) }
      if since[key] == nil || retired.contains(key) {
        since[key] = row.ordinal
        // It may have taken the place of a dead registration, whose budget goes with it.
        for dead in retired where dead.user == key.user && dead.scope == key.scope && dead != key {
          attempts[dead] = nil
        }
      }
      retired.remove(key)
    case .unregister(let request):
      guard case .client(let client) = request.device else { return }
      let key = DeviceKey(scope: request.scope, user: request.user, client: client)
      (since[key], attempts[key], inFlight[key], told[key]) = (nil, nil, nil, nil)
      for (address, claim) in claims where claim.key == key {
        (claims[address], owners[address]) = (nil, nil)
      }
    case .forwarded(let forwarded):
      guard case .displaced(let displacement) = forwarded.message else { return }
      let key = displacement.device
      guard displacement.registration >= registrations[key] ?? .zero else { return }
      retired.insert(key)
      inFlight[key] = nil
    default: break
    }
  }

  private mutating func claim(_ address: Address, _ key: DeviceKey, _ at: Instant) {
    let isTie = claims[address].map { $0.at == at && $0.key != key } ?? false
    claims[address] = (isTie ? nil : key, at)
    if owners[address] != key { owners[address] = nil }
    // Who takes another address gives the one before up.
    for (other, claim) in claims where claim.key == key && other != address {
      (claims[other], owners[other]) = (nil, nil)
    }
  }

  /// What became durable without being stepped is unknown: nobody is sure of an address any more.
  mutating func recovered() { (claims, owners, unanswered) = ([:], [:], [:]) }

  /// Registered and answered: from here on the address is this device's alone (P9).
  mutating func registered(_ key: DeviceKey, at address: Address) {
    unanswered[key, default: 1] -= 1
    let place = address.place
    if claims[place]?.key == key, unanswered[key] == 0 { owners[place] = key }
  }

  mutating func began(_ attempt: PushAttempt, at now: Instant) {
    inFlight[attempt.device] = attempt.id
    renewed.remove(attempt.device)
    guard attempt.route.transport != .courier else { return }
    attempts[attempt.device, default: []].append((now, attempt.intent))
  }

  mutating func ended(_ attempt: PushAttempt, _ verdict: Verdict) {
    // A verdict on whoever had the name before tells nothing of this device.
    let isCurrent = inFlight[attempt.device] == attempt.id
    if isCurrent {
      inFlight[attempt.device] = nil
      // The provider refused us, and the device got nothing: no budget counts it.
      if verdict.isRoutes || verdict.isRecalled, attempt.route.transport != .courier {
        _ = attempts[attempt.device]?.popLast()
      }
    }
    if case .gone = verdict { retired.insert(attempt.device) }
    switch verdict {
    case .delivered, .deliveredElsewhere:
      if isCurrent, attempt.route.transport != .courier, !renewed.contains(attempt.device) {
        found.insert(attempt.device)
      }
    default: break
    }
    switch verdict {
    case .rejected, .tooLarge: break
    default: return
    }
    guard attempt.intent == .alert, let text = PushText(attempt.payload) else { return }
    // Given up by the provider's word: nobody promised more.
    let alert = Self.alert(text.subscription, text.shown, text.record)
    told[attempt.device, default: Told()].alerts[alert] = Ordinal(.max)
  }

  mutating func taken(_ push: PushTaken) {
    let (key, text) = (push.attempt.device, push.text)
    func raise(_ ordinal: inout Ordinal) { ordinal = max(ordinal, push.stepped) }
    var told = told[key] ?? Told()
    if text.isContentAvailable {
      told.tell(text, push.stepped)
    } else if push.attempt.route.transport == .courier {
      told.beside[push.attempt.wake] = (text, push.stepped)
    }
    if push.attempt.intent == .alert {
      let alert = Self.alert(text.subscription, text.shown, text.record)
      raise(&told.alerts[alert, default: .zero])
    }
    if text.isMore { raise(&told.lostAlerts) }
    self.told[key] = told
  }

  mutating func shown(_ taken: PushTaken) {
    if let alert = Self.shownAlert(taken.attempt, taken.text) { shownAlerts.insert(alert) }
  }

  func hasShown(_ attempt: PushAttempt, _ text: PushText) -> Bool {
    Self.shownAlert(attempt, text).map(shownAlerts.contains) ?? false
  }

  private static func shownAlert(_ attempt: PushAttempt, _ text: PushText) -> ShownAlert? {
    guard attempt.intent == .alert else { return nil }
    return ShownAlert(
      device: attempt.device, notification: text.notification, subscription: text.subscription)
  }

  static func alert(
    _ subscription: String?, _ shown: PushText.ZoneRef?, _ record: String?
  ) -> String {
    let zone = shown.map { "\($0.database.rawValue)/\($0.zone.owner.name)/\($0.zone.name)" }
    return "\(subscription ?? "")|\(zone ?? "")|\(record ?? "")"
  }

  /// The device has dealt with this wake, and with what it named, whatever became of those before.
  mutating func acknowledged(wake: UInt32, by key: DeviceKey) {
    acknowledging.insert(key)
    guard var told = told[key], let beside = told.beside.removeValue(forKey: wake) else { return }
    told.tell(beside.text, beside.ordinal)
    self.told[key] = told
  }

  mutating func acknowledged(_ position: Position, by key: DeviceKey) {
    acknowledging.insert(key)
    let before = told[key]?.notifications ?? .zero
    told[key, default: Told()].notifications = max(before, position)
  }

  mutating func acknowledged(_ zone: PushText.ZoneRef, _ key: DeviceKey, before: Ordinal) {
    acknowledging.insert(key)
    // What was forwarded and not stepped there yet will pend when it is.
    told[key, default: Told()].zones[zone] = max(told[key]?.zones[zone] ?? .zero, before)
  }
}
