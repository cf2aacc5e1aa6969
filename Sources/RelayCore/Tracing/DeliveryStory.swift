/// Follows one notification on one lane through the entries, and finds the notification's outcome.
///
/// ```
/// pending ──wake names it──▶ flying ──delivered──▶ told
///    ▲                         │ failed
///    └─────────────────────────┘      pending, flying ──fetched, withdrawn, retired …──▶ ended
/// ```
struct DeliveryStory {
  enum State: Hashable {
    case pending
    /// A wake that tells of the notification is under way. If this wake fails, no later wake tells
    /// of the notification, for the reason `ifFails`; `nil` means that a later wake may.
    case flying(TracedWake, ifFails: Explanation.Reason?)
    case told(Told)
    case ended(Explanation.Reason)
    /// Entries are missing, and their events may have changed the state.
    case unknown
  }

  struct Told: Hashable {
    var wake: UInt32
    var isOverCourier: Bool
    /// Whether the wake was the alert of another notification.
    var isBeside: Bool
    var at: Instant
  }

  let match: TracedMatch
  /// The parts of the lane where the notification pends. For an alert, these include the alerts
  /// that have replaced it.
  private var parts: Set<TracedPart>
  private(set) var state = State.pending
  /// The courier's wake that the push under way repeats.
  private var toldBefore: Told?
  /// The pushes that may still repeat what the courier told.
  private var repeats = Repeats.all

  private enum Repeats {
    case all
    /// Only pushes that are made to repeat something. Entries are missing, and one of them may say
    /// that the lane has forgotten what was told.
    case fallbacks
    /// The device was unregistered or retired, or the subscription or zone was withdrawn. The lane
    /// has then forgotten what was told.
    case none

    func holds(_ wake: TracedWake) -> Bool {
      switch self {
      case .all: true
      case .fallbacks: wake.cause == .fallback
      case .none: false
      }
    }
  }

  /// Whether a life of the daemon began after the notification had ended. If the daemon crashed
  /// before a fold kept that end, the notification pends again.
  private var mayPendAgain = false
  /// Whether an event that ends what pends came after the notification's last match. Such an event
  /// may leave `state` as it was. If the lane still has a part at the notification's position, that
  /// part stands for other notifications.
  private var isOver = false
  private(set) var receipt: (TracedReceipt, at: Instant)?

  init(_ match: TracedMatch, as part: TracedPart) {
    self.match = match
    parts = [part]
  }

  private var isAlert: Bool { parts.contains { if case .alert = $0 { true } else { false } } }

  /// The wake that told of the notification, also while a push repeats the courier's wake.
  private var lastTold: Told? {
    if case .told(let told) = state { return told }
    return toldBefore
  }

  func pends(as part: TracedPart) -> Bool { parts.contains(part) }

  /// Whether no later event of the device changes the delivery, until a life of the daemon begins
  /// or a replay repeats the match.
  var isSettled: Bool {
    guard receipt != nil else { return false }
    switch state {
    case .told: return true
    case .ended: return !mayPendAgain
    case .pending, .flying, .unknown: return false
    }
  }

  /// A life of the daemon begins: what was under way is due again.
  mutating func began() {
    if case .flying(_, let ifFails) = state {
      state = toldBefore.take().map { .told($0) } ?? ifFails.map { .ended($0) } ?? .pending
    }
    switch state {
    // Facts caused these ends, and a replay steps the same facts again.
    case .ended(.withdrawn), .ended(.unregistered): break
    case .ended: mayPendAgain = true
    case .pending, .flying, .told, .unknown: break
    }
  }

  /// Some entries are missing at this point of the history.
  mutating func lost() {
    switch state {
    case .pending, .flying: state = toldBefore.take().map { .told($0) } ?? .unknown
    case .told, .ended, .unknown: break
    }
    if repeats == .all { repeats = .fallbacks }
  }

  /// Another notification, or the same one in a replay, came to the lane.
  mutating func matched(_ other: TracedMatch, _ outcome: TracedMatch.Outcome) {
    guard case .pends(let part, _, let instead) = outcome else { return }
    if other.position == match.position {
      isOver = false
      // The lane may put the notification into another part than in the life before. For example,
      // the device had read another zone, and so the lane had room for this zone. The relay lost
      // that read in a crash, and now the lane has no room for this zone.
      parts = [part]
      // The event that made the lane forget is older than the match, or the replay steps it again.
      repeats = .all
      switch state {
      // The notification pends again. If a fact that is newer than the match ended the delivery,
      // the replay steps that fact later. An end that the replay has recorded already comes from a
      // fact that is older than the match.
      case .unknown, .ended(.withdrawn), .ended(.unregistered), .ended(.retired):
        state = .pending
      case .pending, .flying, .told, .ended: break
      }
      return
    }
    if let older = instead.replaced, parts.contains(.alert(older)) { parts.insert(part) }
    if let older = instead.crowdedOut, parts.contains(.alert(older)), state == .pending {
      // The subject of the alert may go on pending without the alert.
      if let left = instead.left { parts = [left] } else { state = .ended(.crowdedOut) }
    }
  }

  mutating func note(_ event: DeviceEvent, at: Instant) {
    switch event {
    case .wake(let wake): begins(wake)
    case .ended(let end): ended(end, at: at)
    case .receipt(let receipt): if proves(receipt) { received(receipt, at: at) }
    case .withdrawn(let withdrawal):
      if withdrawal.means(match.subscription, match.zone, match.database) {
        ends(as: .withdrawn(at: at), canStillBeTold: true)
      }
    case .retired(let reason): ends(as: .retired(reason), canStillBeTold: false)
    case .unregistered: ends(as: .unregistered(at: at), canStillBeTold: false)
    case .hushed(let alert, let part):
      if parts.contains(.alert(alert)) { parts = [part] }
    case .registered, .waits, .waitsForConnection: break
    }
  }

  private mutating func begins(_ wake: TracedWake) {
    switch state {
    case .pending:
      if tells(wake) { (state, repeats) = (.flying(wake, ifFails: nil), .all) }
    case .ended(let reason) where mayPendAgain:
      // A wake that shows another notification names one of `parts` because of that other
      // notification. Such a wake does not say that this notification pends again.
      guard tells(wake), isAlert || wake.shows == match.notification else { return }
      (state, repeats) = (.flying(wake, ifFails: reason), .all)
    case .told(let told) where told.isOverCourier && wake.transport != .courier:
      // A push repeats what only the courier has told.
      guard !isAlert, repeats.holds(wake), receipt == nil, tells(wake) else { return }
      (state, toldBefore) = (.flying(wake, ifFails: nil), told)
    case .unknown:
      // A wake that shows the alert itself proves that the alert pended.
      let own = TracedAlert(notification: match.notification, subscription: match.subscription)
      if wake.alert == own { state = .flying(wake, ifFails: nil) }
    case .flying, .told, .ended: break
    }
  }

  private func tells(_ wake: TracedWake) -> Bool {
    if isAlert { return wake.alert.map { parts.contains(.alert($0)) } ?? false }
    return wake.runsApp && wake.names.contains { parts.contains($0) }
  }

  private mutating func ended(_ end: TracedVerdict, at: Instant) {
    guard case .flying(let wake, let ifFails) = state, wake.number == end.wake else { return }
    if end.verdict.isDelivered {
      state = .told(
        Told(
          wake: wake.number, isOverCourier: wake.transport == .courier,
          isBeside: wake.alertOf != nil && !isAlert, at: at))
    } else if let told = toldBefore.take() {
      state = .told(told)
    } else if let ifFails {
      state = .ended(ifFails)
    } else if isAlert, end.dropsAlert {
      state = .ended(end.verdict.refusal.map { .rejected($0) } ?? .crowdedOut)
    } else {
      state = .pending
    }
  }

  /// Whether the receipt proves that the device has the change.
  private func proves(_ receipt: TracedReceipt) -> Bool {
    switch receipt {
    case .acknowledged(.notifications(let position, _)): return position >= match.position
    case .acknowledged(.zone(let zone, let database, let position, _)):
      return isOfZone && zone == match.zone && database == match.database
        && position >= match.zonePosition
    case .acknowledged(.listed(let zones, let database)):
      return lastTold != nil && isOfZone && database == match.database
        && zones.contains(match.zone)
    case .acknowledged(.wake(let number)), .connected(let number):
      if let told = lastTold, told.wake <= number { return true }
      guard case .flying(let wake, _) = state else { return false }
      return !isAlert && wake.number <= number
    case .marked(let notifications):
      return parts.contains { part in
        guard case .alert(let alert) = part else { return false }
        return notifications.contains(alert.notification)
      }
    }
  }

  /// Whether a page of the zone shows the change. An alert, and a notification of a query, pend
  /// until the device reads its notifications.
  private var isOfZone: Bool {
    parts.contains(.zone(match.zone, match.database)) || parts.contains(.many)
  }

  private mutating func received(_ receipt: TracedReceipt, at: Instant) {
    if self.receipt == nil { self.receipt = (receipt, at) }
    isOver = true
    switch state {
    case .pending: state = .ended(.fetched(at: at))
    case .flying(let wake, nil): state = .flying(wake, ifFails: .fetched(at: at))
    case .ended: mayPendAgain = false
    case .flying, .told, .unknown: break
    }
  }

  private mutating func ends(as reason: Explanation.Reason, canStillBeTold: Bool) {
    isOver = true
    switch state {
    case .pending: state = .ended(reason)
    case .flying(let wake, let ifFails) where canStillBeTold:
      (state, repeats) = (.flying(wake, ifFails: ifFails ?? reason), .none)
    case .flying(_, let ifFails):
      let told = toldBefore.take().map { State.told($0) }
      (state, repeats) = (told ?? .ended(ifFails ?? reason), .none)
    case .told: repeats = .none
    case .ended, .unknown: break
    }
  }

  /// The outcome of the notification, given what pends at the end of the entries.
  func outcome(_ standing: Standing) -> Explanation.Outcome {
    switch state {
    case .told(let told):
      if told.isOverCourier { return .not(.toldByCourier(told.wake)) }
      return told.isBeside ? .not(.alreadyTold(told.wake)) : .woken(told.wake)
    case .ended(let reason):
      guard mayPendAgain else { return .not(reason) }
      let held = held(standing) { $0 == match.position }
      return held == .unknown ? .not(reason) : held
    case .flying(let wake, _):
      return .not(toldBefore.map { .toldByCourier($0.wake) } ?? .underWay(wake.number))
    case .pending: return held(standing) { $0 >= match.position }
    // Until an event ends the notification, a part that pends at exactly the notification's
    // position is the notification itself.
    case .unknown: return isOver ? .unknown : held(standing) { $0 == match.position }
    }
  }

  private func held(
    _ standing: Standing, at isPlace: (Position) -> Bool
  ) -> Explanation.Outcome {
    let held = standing.pending.first { parts.contains($0.part) && isPlace($0.position) }
    return held?.reason.map { .not($0) } ?? .unknown
  }
}

extension Verdict {
  /// The reason why the provider permanently refuses the push; `nil` if the provider does not
  /// refuse the push.
  fileprivate var refusal: String? {
    switch self {
    case .rejected(let reason), .tooLarge(let reason): reason.text
    case .delivered, .deliveredElsewhere, .later, .gone: nil
    }
  }
}
