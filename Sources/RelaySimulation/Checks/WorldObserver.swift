import RelayCore

/// What the checkers remember of the world besides the model.
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

  /// What pushes and pages told a device, and up to which fact.
  struct Told {
    var zones: [PushText.ZoneRef: Ordinal] = [:]
    var query = Ordinal.zero
    var many = Ordinal.zero
    var alerts: [String: Ordinal] = [:]
    /// Set when a wake said that alerts were replaced.
    var lostAlerts = Ordinal.zero
    var notifications = Position.zero
    /// What courier alerts named in addition; it counts as told when the device acknowledges them.
    var beside: [UInt32: (text: PushText, ordinal: Ordinal)] = [:]

    mutating func tell(_ text: PushText, _ ordinal: Ordinal) {
      for zone in text.zones { zones[zone] = max(zones[zone] ?? .zero, ordinal) }
      if text.hasQuery { query = max(query, ordinal) }
      if text.isMore { many = max(many, ordinal) }
    }
  }

  /// For each feed, the position that a read beginning now must at least reach (P4).
  private(set) var shown: [FeedKey: Position] = [:]
  private(set) var accepted: [UInt64] = []
  /// Shares whose end was answered, and shares whose beginning was answered (P9).
  var answered = (ended: Set<Share>(), begun: Set<Share>())
  private(set) var inFlight: [DeviceKey: PushAttempt.ID] = [:]
  /// Devices that a push reached in an environment since they registered, in this life.
  private(set) var found: Set<DeviceKey> = []
  private var renewed: Set<DeviceKey> = []
  private(set) var attempts: [DeviceKey: [(at: Instant, intent: Push.Intent)]] = [:]
  private(set) var told: [DeviceKey: Told] = [:]
  /// Devices that have acknowledged at least once.
  private(set) var acknowledging: Set<DeviceKey> = []
  /// The fact with which a device's present lane began.
  private(set) var since: [DeviceKey: Ordinal] = [:]
  private(set) var retired: Set<DeviceKey> = []
  /// Alerts that the courier took in this life; these must not be shown again.
  private var shownAlerts: Set<ShownAlert> = []
  private var registrations: [DeviceKey: Ordinal] = [:]
  /// How many registrations of a device were stepped and not answered yet.
  private var unanswered: [DeviceKey: Int] = [:]
  /// The newest registration of each address and its time; nil in a tie.
  private var claims: [Address: (key: DeviceKey?, at: Instant)] = [:]
  /// The device that holds an address by an answered registration, if no registration followed it.
  private(set) var owners: [Address: DeviceKey] = [:]
  var crashes: [Instant] = []
  /// The times at which the relay's time caught up with the clock.
  var corrections: [Instant] = []
  /// The ledgers as last printed for people.
  var ledgers: [PartitionID: Ledger] = [:]
  /// Set when a trim has removed old rows from the store.
  var hasTrimmed = false

  func isRevoked(_ user: UserID, _ feed: FeedKey) -> Bool {
    guard case .zone(let zone) = feed.kind else { return false }
    return answered.ended.contains(Share(zone: zone, user: user))
  }

  mutating func lifeBegan(at now: Instant, recovered store: SimulatedStore) {
    (inFlight, shownAlerts, found) = ([:], [], [])
  }

  /// A restore undoes answered facts, and no client is told. The checks of devices begin anew.
  mutating func restored(_ store: SimulatedStore) {
    (shown, accepted, answered) = ([:], [], ([], []))
    (attempts, told, claims, owners, unanswered) = ([:], [:], [:], [:], [:])
    // It is unknown which devices were retired in the copy, so the checks count each device from
    // its next registration.
    retired = Set(since.keys)
  }

  /// A change was answered: P1 holds from here on, and P4 for reads that begin from here on.
  mutating func accepted(_ change: Change, _ model: Model) throws {
    guard model.fingerprints.contains(change.fingerprint) else {
      throw InvariantViolation(
        .nothingAcknowledgedIsLost, "accepted and not durable: \(change.fingerprint)")
    }
    accepted.append(change.fingerprint)
    for (feed, position) in model.shownAt[change.fingerprint] ?? [] {
      shown[feed] = max(shown[feed] ?? .zero, position)
    }
    // Later facts about a share may be durable and not answered yet; nothing is promised then.
    switch change.event {
    case .granted(let user):
      let share = Share(zone: change.zone, user: user)
      if model.lastWord[share] == change.fingerprint { answered.begun.insert(share) }
    case .revoked(let user):
      let share = Share(zone: change.zone, user: user)
      if model.lastWord[share] == change.fingerprint { answered.ended.insert(share) }
    case .zone:
      for (share, word) in model.lastWord where word == change.fingerprint {
        answered.ended.insert(share)
      }
    case .record: break
    }
  }

  mutating func stepped(_ row: JournalEntry, _ effects: [Effect]) {
    switch row.fact {
    case .change(let change):
      switch change.event {
      case .revoked(let user): answered.begun.remove(Share(zone: change.zone, user: user))
      case .zone(let end) where end != .created:
        answered.begun = answered.begun.filter { $0.zone != change.zone }
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
        // The device may have replaced a dead registration, which takes its budget with it.
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
    // A device that registers another address gives up its former one.
    for (other, claim) in claims where claim.key == key && other != address {
      (claims[other], owners[other]) = (nil, nil)
    }
  }

  /// It is unknown which facts became durable without being stepped, so the checks assume no holder
  /// of any address.
  mutating func recovered() { (claims, owners, unanswered) = ([:], [:], [:]) }

  /// The registration was answered: from here on only this device holds the address (P9).
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
    // A verdict on an earlier device of the same name says nothing about this one.
    let isCurrent = inFlight[attempt.device] == attempt.id
    if isCurrent {
      inFlight[attempt.device] = nil
      // The provider refused the relay and the device got no push, so no budget counts the attempt.
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
    // The provider refused this alert for good, so the relay promises nothing more about it.
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

  /// The device has handled this wake and all that it named, whatever happened to earlier wakes.
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
    // A forwarded change that is not stepped there yet will pend after its step.
    told[key, default: Told()].zones[zone] = max(told[key]?.zones[zone] ?? .zero, before)
  }
}
