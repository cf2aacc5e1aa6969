/// The delivery state of one device: what pends, when the device may be woken, and what was tried.
///
/// ```
/// idle ─matched─▶ gathering ─window over─▶ due ─taken─▶ in flight ─delivered─▶ watching ─▶ idle
///                                           ▲              │ later ▶ resting ─┘
///                                           └──────────────┘ gone ▶ retired
/// ```
///
/// At most one background wake pends and one attempt is in flight (P6). An input is something that
/// has happened or that is requested. After each input, `nextStep` says what the lane waits for.
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
  /// Since when something pends that no wake has told. The status shows this time; it is not
  /// durable.
  package internal(set) var freshSince: Instant?
  /// Whether an attempt at a provider is not durable yet. No other attempt begins until a fold has
  /// made this attempt durable, so a crash costs at most one attempt over the budget (P7).
  package internal(set) var unfolded = Unfolded.nothing
  /// The push that repeats what only the courier told, if the device does not acknowledge in time.
  package internal(set) var fallback: PushFallback?
  /// The lane's turn in a smear, before which the device must not fetch hot zones. Zero means that
  /// the lane has had no slot.
  package internal(set) var slot = Instant.zero
  /// Whether the lane came too late for its slot and got another slot. The value is false again
  /// when a background wake is delivered.
  var isSentBack = false
  /// The delivered wakes that the device has not answered; `nil` if there are none.
  package internal(set) var silence: Silence?
  package internal(set) var reach = Reachability()
  /// Whether the token belongs to another environment of the provider than the registered one.
  package internal(set) var isElsewhere: Bool
  /// Whether the provider has accepted a push for the device's address.
  package internal(set) var hasTaken: Bool

  package enum Unfolded: UInt8, Hashable, Sendable {
    case nothing
    case attempt
    /// The cut under way contains the attempt.
    case recorded
  }

  /// The lane of a newly registered device, with nothing pending.
  package init() {
    self.init(LaneRecord(), folded: .zero)
  }

  /// The lane that a row of the tables describes. What was in flight before the start is due again.
  ///
  /// - Parameters:
  ///   - since: the last fold's time. Everything that pends began to pend before that fold.
  ///   - isExact: whether the daemon stopped cleanly before, so that no wake number is skipped.
  package init(
    _ record: LaneRecord, folded: Ordinal, since: Instant? = nil, isExact: Bool = false
  ) {
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
    freshSince = pending.isFresh || !pending.alerts.isEmpty ? since : nil
  }

  package var nextWake: UInt32 { numbers.next }
  package var reservedWake: UInt32 { numbers.reserved }

  /// Returns the row that a fold writes, and reserves wake numbers for the time until the next
  /// fold.
  package mutating func record() -> LaneRecord {
    if unfolded == .attempt { unfolded = .recorded }
    var kept = pending
    kept.alerts = kept.alerts.map(\.alone)
    kept.waking.changeAll { subject in
      _ = subject.uncover()
      subject.freshFrom = .zero
    }
    kept.quiet.changeAll { subject in
      subject.clearCover()
      subject.freshFrom = .zero
    }
    if case .inFlight(let attempt) = state, let shown = attempt.alert,
      !kept.alerts.contains(where: { $0.key == shown.key })
    {
      kept.alerts.insert(shown, at: 0)
    }
    return LaneRecord(
      reservedWake: numbers.reserve(), nextWake: nextWake, background: background, alert: alert,
      learnt: adaptation.learnt, hasAcknowledged: hasAcknowledged, ladderStep: ladderStep,
      lastWake: lastWake, retirement: retirement, pending: kept, lastVerdict: lastVerdict,
      lastFetch: lastFetch, fallback: fallback, slot: slot, isElsewhere: isElsewhere,
      silence: silence, hasTaken: hasTaken)
  }

  /// The fold that wrote the last `record()` is durable, and so is everything pending up to
  /// `folded`.
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

extension Lane {
  /// What a lane waits for.
  package enum NextStep: Hashable, Sendable {
    case nothing
    /// The lane waits until this time, for this reason.
    case timer(Instant, Wait)
    /// The lane waits for a fold, which lets readers find what is due, makes an attempt durable, or
    /// reserves wake numbers.
    case fold
    /// A push may wake the device now, if its route allows.
    case attempt(isAlert: Bool)
    /// The courier may send the device a message now.
    case tell(isAlert: Bool)
  }

  /// Why a lane waits for a time.
  package enum Wait: UInt8, Hashable, Sendable, CaseIterable {
    /// Changes gather until the window is over.
    case window = 1
    /// The last attempt failed for now.
    case rest
    /// The budget of alerts is used up.
    case alertBudget
    /// The budget of background wakes is used up, or an adaptive budget spreads its wakes.
    case backgroundBudget
    /// Everything that may be told is hot, and the lane's slot in the smear has not come.
    case slot
    /// A poll was answered, and the device's next poll is expected.
    case nextPoll
    /// Everything is told. A wake repeats it if the device does not acknowledge.
    case acknowledgement
  }
}
