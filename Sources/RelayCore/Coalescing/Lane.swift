/// The delivery state of one device: what pends, when it may be woken, what was tried.
///
/// ```
/// idle ─matched─▶ gathering ─window over─▶ due ─taken─▶ in flight ─delivered─▶ watching ─▶ idle
///                                           ▲              │ later ▶ resting ─┘
///                                           └──────────────┘ gone ▶ retired
/// ```
///
/// At most one background wake pends and one attempt is in flight (P6). Inputs are past facts or
/// requests; after each of them `nextStep` says what the lane waits for.
package struct Lane: Hashable, Sendable {
  package internal(set) var pending: PendingSet
  package internal(set) var hasAcknowledged: Bool
  package internal(set) var ladderStep: Int
  package internal(set) var lastWake: Instant
  package internal(set) var background: Budget
  package internal(set) var alert: Budget
  var adaptation: Adaptation
  var numbers: WakeNumbers
  package internal(set) var state: State
  package internal(set) var lastVerdict: LastVerdict?
  package internal(set) var lastFetch: Instant?
  /// Since when something pends that no wake has told; for people.
  package internal(set) var freshSince: Instant?
  /// Whether an attempt is not durable yet. Until a fold makes it durable no other attempt begins,
  /// so a crash costs at most one attempt over the budget (P7).
  package internal(set) var unfolded = Unfolded.nothing
  /// What the courier told and the device did not acknowledge. A push follows.
  package internal(set) var fallback: PushFallback?
  /// The lane's turn in a smear. The device must not fetch hot zones before it. Zero: it had none
  /// yet.
  package internal(set) var slot = Instant.zero
  /// The lane was long past its slot, and was given another one.
  var isSentBack = false
  /// Delivered wakes that the device has not answered.
  package internal(set) var silence: Silence?
  package internal(set) var reach = Reachability()
  /// The provider took a push in the other environment than the address was registered with.
  package internal(set) var isElsewhere: Bool
  /// The device's address has taken a push from its provider.
  package internal(set) var hasTaken: Bool

  package enum Unfolded: UInt8, Hashable, Sendable {
    case nothing
    case attempt
    /// An attempt that the cut under way has recorded.
    case recorded
  }

  /// The lane of a newly registered device: at the head of the feeds, with nothing pending.
  package init(at: Instant) {
    self.init(LaneRecord(), folded: .zero)
  }

  /// A lane from the tables. What was in flight is due again.
  ///
  /// - Parameter isExact: see `WakeNumbers`.
  package init(_ record: LaneRecord, folded: Ordinal, isExact: Bool = false) {
    pending = record.pending
    hasAcknowledged = record.hasAcknowledged
    ladderStep = record.ladderStep
    lastWake = record.lastWake
    lastVerdict = record.lastVerdict
    lastFetch = record.lastFetch
    background = record.background
    alert = record.alert
    adaptation = Adaptation(record.learnt)
    numbers = WakeNumbers(record, isExact: isExact)
    fallback = record.fallback
    slot = record.slot
    isElsewhere = record.isElsewhere
    hasTaken = record.hasTaken
    silence = record.silence
    state = State(State.Waiting(pending), retirement: record.retirement, folded: folded)
  }

  package var nextWake: UInt32 { numbers.next }
  package var reservedWake: UInt32 { numbers.reserved }

  /// The row that a fold writes. Reserves wake numbers for the time until the next fold.
  package mutating func record() -> LaneRecord {
    if unfolded == .attempt { unfolded = .recorded }
    var kept = pending
    kept.alerts = kept.alerts.map(\.alone)
    kept.waking.keep { subject in
      _ = subject.uncover()
      subject.freshFrom = .zero
      return true
    }
    kept.quiet.keep { subject in
      subject.unname()
      subject.freshFrom = .zero
      return true
    }
    if case .inFlight(let attempt) = state, let shown = attempt.alert,
      !kept.alerts.contains(where: { $0.key == shown.key })
    {
      kept.alerts.insert(shown, at: 0)
    }
    return LaneRecord(
      reservedWake: numbers.reserve(), nextWake: nextWake, background: background, alert: alert,
      learnt: adaptation.learnt, hasAcknowledged: hasAcknowledged, ladderStep: ladderStep,
      lastWake: lastWake,
      retirement: retirement, pending: kept, lastVerdict: lastVerdict, lastFetch: lastFetch,
      fallback: fallback, slot: slot, isElsewhere: isElsewhere, silence: silence, hasTaken: hasTaken
    )
  }

  /// The fold that took `record` is durable, and with it what is pending up to `folded`.
  package mutating func folded(to folded: Ordinal, ledger: inout Ledger) {
    ledger.settle(pending.folded(to: folded), as: \.merged)
    numbers.folded()
    if unfolded == .recorded { unfolded = .nothing }
  }

  package var retirement: Retirement? {
    if case .retired(let retirement) = state { return retirement }
    return nil
  }
}
