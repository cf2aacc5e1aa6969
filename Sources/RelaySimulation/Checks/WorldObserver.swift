import RelayCore

/// The state that the checkers keep of the world besides the model.
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

  /// What pushes and pages have told a device: for each subject, the last fact that was told.
  struct Told {
    var zones: [PushText.ZoneRef: Ordinal] = [:]
    var query = Ordinal.zero
    var many = Ordinal.zero
    var alerts: [String: Ordinal] = [:]
    /// The last fact that is covered by a wake with `isMore`. Such a wake says that it does not
    /// name all that happened: more subjects pend, or the relay has dropped an alert.
    var lostAlerts = Ordinal.zero
    var notifications = Position.zero
    /// For each courier alert, by its wake number, the further subjects that the alert named. These
    /// subjects count as told once the device acknowledges the wake.
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
  /// Shares whose end the relay has answered, and shares whose beginning it has answered (P9).
  var answered = (ended: Set<Share>(), begun: Set<Share>())
  private(set) var inFlight: [DeviceKey: PushAttempt.ID] = [:]
  /// Devices that a push has reached since their last registration, in this life of the daemon.
  private(set) var found: Set<DeviceKey> = []
  private var renewed: Set<DeviceKey> = []
  private(set) var attempts: [DeviceKey: [(at: Instant, intent: Push.Intent)]] = [:]
  /// Devices whose attempts this value forgot, although the relay may still count them.
  private(set) var forgottenBudgets: Set<DeviceKey> = []
  private(set) var told: [DeviceKey: Told] = [:]
  /// Devices that have acknowledged at least once.
  private(set) var acknowledging: Set<DeviceKey> = []
  /// The fact with which a device's present lane began.
  private(set) var since: [DeviceKey: Ordinal] = [:]
  private(set) var retired: Set<DeviceKey> = []
  /// Alerts that the courier delivered in this life of the daemon; no push may show them again.
  private var shownAlerts: Set<ShownAlert> = []
  private var registrations: [DeviceKey: Ordinal] = [:]
  /// How many registrations of a device were stepped and not answered yet.
  private var unanswered: [DeviceKey: Int] = [:]
  /// For each address, the device that registered it last, and when. The device is nil if two
  /// devices registered the address at the same time.
  private var claims: [Address: (key: DeviceKey?, at: Instant)] = [:]
  /// For each address, the device that holds it by an answered registration which no other
  /// registration has followed.
  private(set) var owners: [Address: DeviceKey] = [:]
  /// The ledgers as the simulation last printed them, if it prints each step.
  var ledgers: [PartitionID: Ledger] = [:]
  /// Set when a trim has removed old rows from the store.
  var hasTrimmed = false
  /// What the world has seen, with which the relay's explanations are compared.
  var witness: Witness

  init(witness: Witness) { self.witness = witness }

  func isRevoked(_ user: UserID, _ feed: FeedKey) -> Bool {
    guard case .zone(let zone) = feed.kind else { return false }
    return answered.ended.contains(Share(zone: zone, user: user))
  }

  /// A crash may have left facts durable that were never stepped. It is unknown which, so the
  /// checks forget who held which address.
  mutating func lifeBegan() {
    (inFlight, shownAlerts, found) = ([:], [], [])
    (claims, owners, unanswered) = ([:], [:], [:])
  }

  /// A restore undoes answered facts, and no client is notified. The checks of devices begin anew.
  mutating func restored() {
    (shown, accepted, answered) = ([:], [], ([], []))
    (attempts, told, claims, owners, unanswered) = ([:], [:], [:], [:], [:])
    // It is unknown which devices were retired in the restored copy, so the checks take each device
    // for retired until its next registration.
    retired = Set(since.keys)
  }

  /// Records that a change was answered. From now on the checkers expect P1 for the change, and P4
  /// for each read that begins.
  mutating func accepted(_ change: Change, _ model: Model) throws {
    try demand(
      .nothingAcknowledgedIsLost, model.fingerprints.contains(change.fingerprint),
      "accepted and not durable: \(change.fingerprint)")
    accepted.append(change.fingerprint)
    for (feed, position) in model.shownAt[change.fingerprint] ?? [] {
      shown[feed] = max(shown[feed] ?? .zero, position)
    }
    // Later facts about a share may be durable and not answered yet. Until they are answered, the
    // relay promises nothing about the share.
    for (share, word) in model.lastWord where word == change.fingerprint {
      if case .granted = change.event {
        answered.begun.insert(share)
      } else {
        answered.ended.insert(share)
      }
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
        // The device may replace a retired registration of the same user. The relay then drops the
        // budget of the retired registration.
        for dead in retired where dead.user == key.user && dead.scope == key.scope && dead != key {
          attempts[dead] = nil
          forgottenBudgets.insert(dead)
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
    // A device that registers another address gives up its former address.
    for (other, claim) in claims where claim.key == key && other != address {
      (claims[other], owners[other]) = (nil, nil)
    }
  }

  /// Records that the registration was answered: from now on only this device holds the address
  /// (P9).
  mutating func registered(_ key: DeviceKey, at address: Address) {
    unanswered[key, default: 1] -= 1
    let place = address.place
    if claims[place]?.key == key, unanswered[key] == 0 { owners[place] = key }
  }

  mutating func began(_ attempt: PushAttempt, _ text: PushText, at now: Instant) {
    inFlight[attempt.device] = attempt.id
    witness.pushed(attempt, text)
    renewed.remove(attempt.device)
    guard attempt.route.transport != .courier else { return }
    attempts[attempt.device, default: []].append((now, attempt.intent))
  }

  mutating func ended(_ attempt: PushAttempt, _ verdict: Verdict) {
    witness.ended(attempt, verdict)
    // Only the attempt in flight belongs to the present registration: an older attempt was made for
    // a registration that has ended.
    let isCurrent = inFlight[attempt.device] == attempt.id
    if isCurrent {
      inFlight[attempt.device] = nil
      // The provider refused the relay, or the push did not leave. The device got no push, so no
      // budget counts the attempt.
      if verdict.isRoutes || verdict.isUnsent, attempt.route.transport != .courier {
        _ = attempts[attempt.device]?.popLast()
      }
    }
    switch verdict {
    case .gone: retired.insert(attempt.device)
    case .delivered, .deliveredElsewhere:
      if isCurrent, attempt.route.transport != .courier, !renewed.contains(attempt.device) {
        found.insert(attempt.device)
      }
    case .rejected, .tooLarge:
      guard attempt.intent == .alert, let text = PushText(attempt.payload) else { return }
      // The provider refused this alert for good, so the relay promises nothing more about it.
      told[attempt.device, default: Told()].alerts[text.alert] = Ordinal(.max)
    case .later: break
    }
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
    if push.attempt.intent == .alert { raise(&told.alerts[text.alert, default: .zero]) }
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

  /// Records what the device has read, or that it has handled a wake and everything that the wake
  /// named, even if the device missed earlier wakes.
  ///
  /// - Parameter before: if the device has read a zone: the reading covers the facts of the
  ///   partition of the device's user up to this one.
  mutating func acknowledged(
    _ what: Acknowledged, by key: DeviceKey, before: Ordinal = .zero
  ) {
    witness.willBeKnown(.acknowledged(what), of: key)
    if case .listed = what { return }
    acknowledging.insert(key)
    switch what {
    case .wake(let wake):
      guard let beside = told[key]?.beside.removeValue(forKey: wake) else { return }
      told[key]?.tell(beside.text, beside.ordinal)
    case .notifications(let position, _):
      let known = told[key]?.notifications ?? .zero
      told[key, default: Told()].notifications = max(known, position)
    case .zone(let zone, let database, _, _):
      let ref = PushText.ZoneRef(zone: zone, database: database)
      // `before` excludes a forwarded change that the user's partition steps only after this fetch.
      told[key, default: Told()].zones[ref] = max(told[key]?.zones[ref] ?? .zero, before)
    case .listed: break
    }
  }
}
