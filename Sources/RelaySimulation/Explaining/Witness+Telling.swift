import RelayCore

/// What happened to one notification for one device, as far as the world saw: in most cases one
/// outcome, and several where only the relay knows which one is true.
struct SeenDelivery {
  private let fired: SeenChange.Fired
  /// Outcomes that may be true. An empty set means that the notification pends.
  private(set) var outcomes: Set<String> = []
  /// Whether the notification may pend, whatever `outcomes` says.
  private(set) var mayPend = true
  /// The push under way that may tell of the notification, and whether the push certainly does.
  private var flight: (push: Witness.Push, isSure: Bool)?
  /// Newer alerts with the same appearance; one of them may be shown in place of this notification.
  private var newer: Set<String> = []
  /// Alerts with the same appearance that slices may have fired; they may be newer.
  private var late: Set<String> = []
  private var hasNewerAlert = false
  /// The appearances of newer alerts that look different from this alert.
  private var others: Set<String> = []
  private let alertsPending: Int
  /// Whether newer alerts may have crowded this alert out, so that this notification pends in the
  /// background.
  private var mayGiveWay: Bool { others.count >= alertsPending }
  private var hasBegunAgain = false
  /// Whether the notification stops pending if the push under way fails.
  private var endsIfFails = false
  /// Whether a failed attempt may have been the last one.
  private var mayHaveEnded = false
  /// The outcomes that were possible at the moment when the relay may have retired the device. They
  /// stay possible even if the provider then delivers a push that was under way at that moment, or
  /// delivers a push that shows a newer alert.
  private var lasting: Set<String> = []
  /// The courier's wake that told of the notification, until the device has the change.
  private var courierWake: UInt32?

  init(_ fired: SeenChange.Fired, alertsPending: Int) {
    (self.fired, self.alertsPending) = (fired, alertsPending)
  }

  /// Whether the notification cannot pend any more.
  private var isOver: Bool { !mayPend }

  mutating func note(_ sight: Witness.Sight) {
    switch sight {
    case .fired(let other):
      guard let alert = other.alert, other.position != fired.position else { return }
      if alert == fired.alert {
        let name = other.notification.text
        if other.isLate { late.insert(name) } else { newer.insert(name) }
      } else {
        others.insert(alert)
      }
      hasNewerAlert = true
    case .pushed(let push): pushed(push)
    case .ended(let id, let verdict): ended(id, verdict)
    case .acknowledged(.notifications(let position, _)):
      if position >= fired.position { received() }
    case .acknowledged(.zone(let zone, let database, let position, _)):
      guard fired.record == nil, zone == fired.zone, database == fired.database,
        position >= fired.zonePosition
      else { return }
      // If newer alerts may have crowded the alert out, only the relay knows whether they have.
      if fired.alert == nil { received() } else if mayGiveWay { maybe("fetched") }
    case .acknowledged(.wake(let wake)):
      if let flight, fired.alert == nil, flight.push.attempt.wake <= wake { maybe("fetched") }
      if let told = courierWake, told <= wake { courierWake = nil }
    case .acknowledged(.listed(let zones, let database)):
      if database == fired.database, zones.contains(fired.zone) { courierWake = nil }
    case .marked(let notifications):
      guard fired.alert != nil else { return }
      // Once a newer alert has replaced this alert, only the relay knows which of the two alerts a
      // read mark cancels.
      let replacing = newer.union(late)
      if notifications.contains(fired.notification), replacing.isEmpty {
        received()
      } else if notifications.contains(where: {
        $0 == fired.notification || replacing.contains($0.text)
      }) {
        maybe("fetched")
      }
    case .withdrawn(let withdrawal): if means(withdrawal) { ends("withdrawn") }
    // The relay alone knows whether the address was taken from this registration.
    case .retired: mayBeRetired()
    case .unregistered:
      // A wake for a later registration repeats nothing of this registration.
      courierWake = nil
      ends("unregistered")
    case .began: began()
    }
  }

  /// Whether a push tells of the notification: `true` certainly, `false` perhaps, `nil` not at all.
  private func isTold(by push: Witness.Push) -> Bool? {
    let text = push.text
    let zone = PushText.ZoneRef(zone: fired.zone, database: fired.database)
    let isNamed = fired.record == nil ? text.zones.contains(zone) : text.hasQuery
    guard let alert = fired.alert else {
      guard text.isContentAvailable || push.alert == nil, !(push.isOverCourier && push.alert != nil)
      else { return nil }
      // An alert that runs no app may name a subject, which later wakes then name again. A push may
      // also name a subject whose change is in no fold yet, without telling of that change. Only
      // the relay knows whether the push tells of the change.
      return isNamed || text.isMore ? false : nil
    }
    let shown = text.notification ?? ""
    guard push.alert != nil else {
      // An alert that does not fit into a push is told in the background.
      return shown == fired.notification.text || isNamed || text.isMore ? false : nil
    }
    // An alert that does not fit into a push pends in the background. The push of another alert may
    // then tell of it.
    guard push.alert == alert else {
      return text.isContentAvailable && (isNamed || text.isMore) ? false : nil
    }
    if shown == fired.notification.text { return true }
    if newer.contains(shown) { return !mayGiveWay }
    return late.contains(shown) ? false : nil
  }

  private mutating func pushed(_ push: Witness.Push) {
    if flight != nil {
      // The relay begins an attempt only after it has given up the former one. If a provider
      // reported the device as dead, the relay has decided by now whether it believes the report.
      flight = nil
      outcomes.remove("under_way")
      if endsIfFails { mayPend = false }
    }
    guard let isSure = isTold(by: push) else { return }
    if isOver, courierWake == nil || push.isOverCourier { return }
    // A device that had been retired would not be shown this notification.
    if isSure, push.text.notification == fired.notification.text { lasting = [] }
    flight = (push, isSure)
  }

  private mutating func ended(_ id: PushAttempt.ID, _ verdict: Verdict) {
    if case .gone = verdict { mayBeRetired() }
    guard let flight, flight.push.attempt.id == id else { return }
    if case .gone = verdict {
      // The relay waits for a while before it decides whether it believes that the device is dead.
      outcomes.formUnion(["retired", "under_way"])
      return
    }
    self.flight = nil
    switch verdict {
    case .delivered, .deliveredElsewhere:
      let outcome =
        flight.push.isOverCourier
        ? "told_by_courier"
        : flight.push.alert != nil && flight.push.alert != fired.alert
          ? "already_told" : "woken \(flight.push.attempt.wake)"
      // If one life of the daemon told of the notification and the next life told of it again, both
      // outcomes are true.
      if flight.isSure, !hasBegunAgain, !mayHaveEnded { outcomes = lasting }
      outcomes.insert(outcome)
      if mayGiveWay, !flight.isSure, flight.push.alert != nil { outcomes.insert("already_told") }
      if flight.isSure { mayPend = false }
      if flight.push.isOverCourier, fired.alert == nil { courierWake = flight.push.attempt.wake }
    case .rejected, .tooLarge:
      if endsIfFails { mayPend = false }
      mayHaveEnded = fired.alert != nil
      if mayHaveEnded { outcomes.formUnion(["rejected", "crowded_out"]) }
    case .gone: break
    case .later:
      if endsIfFails { mayPend = false }
      if fired.alert != nil, hasNewerAlert {
        mayHaveEnded = true
        outcomes.insert("crowded_out")
      }
    }
  }

  /// The device has the change, whether the push under way succeeds or fails.
  private mutating func received() {
    courierWake = nil
    guard !isOver else { return }
    ends("fetched")
  }

  private mutating func maybe(_ outcome: String) { if !isOver { outcomes.insert(outcome) } }

  /// If the relay has retired the device, the verdict on a push under way does not count any more,
  /// and no later push tells of the notification. Only the relay knows whether it has.
  private mutating func mayBeRetired() {
    guard !isOver else { return }
    outcomes.insert("retired")
    lasting = outcomes.subtracting(["under_way"])
  }

  private mutating func ends(_ outcome: String) {
    guard !isOver else { return }
    outcomes.insert(outcome)
    // A push under way may still tell of the notification.
    if flight == nil { mayPend = false } else { endsIfFails = true }
  }

  private func means(_ withdrawal: Withdrawal) -> Bool {
    switch withdrawal {
    case .subscription(let id, let database):
      id == fired.subscription && database == fired.database
    case .zone(let zone, let database): zone == fired.zone && database == fired.database
    }
  }

  /// What the earlier life of the daemon did not fold may pend again. `endsIfFails` was about a
  /// push of that life, so it is reset.
  private mutating func began() {
    (flight, mayPend, hasBegunAgain, endsIfFails) = (nil, true, true, false)
  }

  /// Whether this alert may have given way to newer alerts, because too many alerts waited.
  var mayBeCrowdedOut: Bool { fired.alert != nil && hasNewerAlert }
}
