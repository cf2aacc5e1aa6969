extension Lane {
  /// What a lane waits for.
  package enum NextStep: Hashable, Sendable {
    case nothing
    /// The lane waits until this time, for this reason.
    case timer(Instant, Wait)
    /// The lane waits for a fold, which makes what is due visible, makes an attempt durable, or
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

  /// What the lane waits for. The caller asks after every input. If the window is over, the call
  /// moves the state from `gathering` to `due`.
  ///
  /// - Parameter stepped: the last fact that the partition stepped.
  package mutating func nextStep(
    at now: Instant, stepped: Ordinal, folded: Ordinal, policy: WakePolicy
  ) -> NextStep {
    switch state {
    case .idle, .inFlight, .retired:
      return .nothing
    case .gathering(_, let due):
      guard due <= now else { return .timer(due, .window) }
      state.windowEnded(stepped: stepped)
      return nextStep(at: now, stepped: stepped, folded: folded, policy: policy)
    case .resting(let rest):
      // A delay that a provider asked for does not delay the courier.
      let tell = telling(folded: folded, at: now)
      guard tell == .nothing else { return tell }
      guard reach.hasProvider else { return waitingHere(at: now) }
      guard rest.until <= now else { return .timer(rest.until, .rest) }
      return attempt(at: now, folded: folded, policy: policy)
    case .due(let after):
      guard after <= folded else { return .fold }
      return attempt(at: now, folded: folded, policy: policy)
    case .watching:
      return repeating(at: now, folded: folded, policy: policy)
    }
  }

  /// The next step when everything is told: the wake that the fallback or the ladder repeats.
  private func repeating(at now: Instant, folded: Ordinal, policy: WakePolicy) -> NextStep {
    if reach.isHere && reach.repeats { return telling(folded: folded, at: now) }
    // Without a provider, no push can repeat the wake.
    guard reach.hasProvider, fallback != nil || hasAcknowledged else { return .nothing }
    let due = fallback?.until ?? rewakeAt(policy)
    guard due <= now else { return .timer(due, .acknowledgement) }
    if fallback == nil, reach.isHere { return telling(folded: folded, at: now) }
    return attempt(at: now, folded: folded, policy: policy)
  }

  /// When the ladder repeats the wake. Each gap is counted from the previous wake. When all gaps
  /// are used, the last gap repeats.
  private func rewakeAt(_ policy: WakePolicy) -> Instant {
    guard let last = policy.rewake.last else { return .never }
    let gap = ladderStep < policy.rewake.count ? policy.rewake[ladderStep] : last
    return ladderFrom + gap
  }

  /// The next step over the courier; `nothing` if the device is not connected or was told
  /// everything.
  private func telling(folded: Ordinal, at now: Instant) -> NextStep {
    guard reach.isHere else { return .nothing }
    let hasNews = hasNews(at: now)
    guard !pending.alerts.isEmpty || hasNews || hasRepeats(at: now) || isRewake else {
      return .nothing
    }
    if numbers.areUsedUp { return .fold }
    if let alert = pending.alerts.first {
      return alert.shown(folded) != nil ? .tell(isAlert: true) : .fold
    }
    return !hasNews || hasTellableNews(folded, at: now) ? .tell(isAlert: false) : .fold
  }

  /// Whether the courier must repeat something that does not wait for the lane's slot.
  private func hasRepeats(at now: Instant) -> Bool {
    reach.repeats && pending.subjects.contains { names($0) && !isHeld($0, at: now) }
  }

  /// The timer of a connected device without a provider, whose fresh subjects wait for the slot;
  /// `nothing` in other cases.
  private func waitingHere(at now: Instant) -> NextStep {
    guard reach.isHere, pending.isFresh, opens(at: now) > now else { return .nothing }
    return .timer(slot, .slot)
  }

  /// Whether a push must repeat what the courier told, because the device did not acknowledge
  /// within `courierGrace`.
  func isFallbackDue(at now: Instant) -> Bool {
    guard let fallback, reach.hasProvider else { return false }
    return fallback.until <= now
  }

  private func attempt(at now: Instant, folded: Ordinal, policy: WakePolicy) -> NextStep {
    if state != .watching {
      let tell = telling(folded: folded, at: now)
      guard tell == .nothing else { return tell }
    }
    guard reach.hasProvider else { return waitingHere(at: now) }
    if let until = reach.expectedBack(at: now), !isFallbackDue(at: now) {
      return .timer(min(until, fallback?.until ?? .never), .nextPoll)
    }
    if unfolded != .nothing || numbers.areUsedUp { return .fold }
    var opens = fallback.map { $0.until > now ? $0.until : .never } ?? .never
    var wait = Wait.acknowledgement
    if let first = pending.alerts.first {
      let alertOpens = alert.opens(policy.alert, at: now)
      if alertOpens <= now {
        return first.shown(folded) != nil ? .attempt(isAlert: true) : .fold
      }
      if alertOpens < opens { (opens, wait) = (alertOpens, .alertBudget) }
    }
    if pending.isFresh || isRewake || isFallbackDue(at: now) {
      let isDueAnyway = !pending.isFresh || isFallbackDue(at: now)
      let (budget, slot) = (
        backgroundOpens(policy, at: now), isDueAnyway ? now : self.opens(at: now)
      )
      let backgroundOpens = max(budget, slot)
      if backgroundOpens <= now {
        // If everything that waits came after the last fold, a reader would not find it yet.
        let isTellable =
          isDueAnyway ? pending.isTellable(folded) : hasTellableNews(folded, at: now)
        return !pending.isFresh || isTellable ? .attempt(isAlert: false) : .fold
      }
      if backgroundOpens < opens {
        (opens, wait) = (backgroundOpens, budget < slot ? .slot : .backgroundBudget)
      }
    }
    return opens == .never ? .nothing : .timer(opens, wait)
  }
}
