extension Lane {
  /// What a lane does now. Only the methods of this type change the state, and each method is
  /// defined for every state.
  package enum State: Hashable, Sendable {
    /// There is nothing to tell. The next state is gathering or retired.
    case idle
    /// Changes gather until `due`. The next state is due, idle, watching or retired.
    case gathering(opened: Instant, due: Instant)
    /// The window is over; everything up to `after` must be folded first. The next state is
    /// inFlight, gathering, idle, watching or retired.
    case due(after: Ordinal)
    /// An attempt is under way. The next state is watching, resting, gathering, due, idle or
    /// retired.
    case inFlight(Attempt)
    /// The attempt failed for now. The next state is inFlight, due, watching, idle or retired.
    case resting(RetryBackoff)
    /// Everything is told, and something is not acknowledged. The next state is inFlight,
    /// gathering, idle or retired.
    case watching
    /// The relay has given up the address. The next state is idle, after a new registration.
    case retired(Retirement)
  }

  package struct Attempt: Hashable, Sendable {
    package var wake: UInt32
    package var isAlert: Bool
    package var isLadder: Bool
    /// Whether the wake runs the app. Such a wake covers the subjects that it names.
    package var runsApp = true
    /// Whether the wake goes over the courier.
    package var isOverCourier = false
    /// Whether the wake repeats what the courier told. Such a wake does not change the ladder's
    /// step.
    package var isRepeat = false
    /// The alert that the wake shows.
    package var alert: PendingAlert?
    package var deadline: Instant
    package var tries: Int
    package var at: Instant
    /// When the first and the last match came during the attempt. A newer alert that waits behind
    /// the shown alert counts as a match. `nil` means that no match came.
    package var gathering: Gathering?

    package struct Gathering: Hashable, Sendable {
      package var first: Instant
      package var last: Instant
    }
  }

  package struct RetryBackoff: Hashable, Sendable {
    package var until: Instant
    package var wake: UInt32
    package var isAlert: Bool
    package var deadline: Instant
    package var tries: Int
    /// Whether the attempt was a re-wake of the ladder, for which nothing new needs to pend.
    package var isLadder = false
    /// Whether the attempt repeated what the courier told, for which nothing new needs to pend.
    package var isRepeat = false
    /// Whether the provider reports the address as dead, and the relay does not believe it yet.
    package var isQuarantined = false
  }
}

extension Lane.State {
  /// Whether a lane has anything to tell or only waits for an acknowledgement. The lane's state
  /// depends on this.
  enum Waiting {
    case nothing
    /// Everything is told, and something is not acknowledged.
    case acknowledgement
    /// A fresh subject or an alert is not told yet.
    case news

    init(_ pending: PendingSet) {
      if pending.isFresh || !pending.alerts.isEmpty {
        self = .news
      } else {
        self = pending.isEmpty ? .nothing : .acknowledgement
      }
    }
  }

  /// The state after the tables are loaded. What was in flight before the start is due again.
  init(_ waiting: Waiting, retirement: Retirement?, folded: Ordinal) {
    if let retirement {
      self = .retired(retirement)
    } else {
      switch waiting {
      case .nothing: self = .idle
      case .acknowledgement: self = .watching
      case .news: self = .due(after: folded)
      }
    }
  }

  /// A notification has begun to pend. The window begins, or is extended up to `windowMax`.
  ///
  /// - Parameter isFirstOpen: whether everything that was due waits for the lane's slot, and this
  ///   notification does not. Such a notification begins a window, as in an idle lane.
  mutating func matched(at now: Instant, isFirstOpen: Bool, _ policy: WakePolicy) {
    switch consume self {
    case .idle, .watching:
      self = .gathering(opened: now, due: now + policy.window)
    case .gathering(let opened, _):
      self = .gathering(
        opened: opened, due: min(now + policy.window, opened + policy.windowMax))
    case .due(let after):
      self =
        isFirstOpen
        ? .gathering(opened: now, due: now + policy.window) : .due(after: after)
    case .inFlight(var attempt):
      attempt.gathering = Lane.Attempt.Gathering(
        first: attempt.gathering?.first ?? now, last: now)
      self = .inFlight(attempt)
    case .resting(let rest): self = .resting(rest)
    case .retired(let retirement): self = .retired(retirement)
    }
  }

  /// The window is over. A wake waits until everything stepped so far is folded.
  mutating func windowEnded(stepped: Ordinal) {
    switch consume self {
    case .gathering: self = .due(after: stepped)
    case let other: self = other
    }
  }

  mutating func began(_ attempt: Lane.Attempt) { self = .inFlight(attempt) }

  /// Removes the alert from the attempt in flight if `isMeant` selects the alert. If the attempt
  /// fails, the alert is then not repeated.
  ///
  /// - Returns: true if there was such an alert.
  mutating func cancelAlert(_ isMeant: (PendingAlert) -> Bool) -> Bool {
    switch consume self {
    case .inFlight(var attempt):
      let isCancelled = attempt.alert.map(isMeant) ?? false
      if isCancelled { attempt.alert = nil }
      self = .inFlight(attempt)
      return isCancelled
    case let other:
      self = other
      return false
    }
  }

  /// The attempt in flight was delivered. Changes that came during the attempt gather, or are due.
  mutating func delivered(_ waiting: Waiting, _ policy: WakePolicy) {
    switch consume self {
    case .inFlight(let attempt):
      switch (waiting, attempt.gathering) {
      case (.nothing, _): self = .idle
      case (.acknowledgement, _): self = .watching
      case (.news, let gathering?):
        self = .gathering(
          opened: gathering.first,
          due: min(gathering.last + policy.window, gathering.first + policy.windowMax))
      case (.news, nil): self = .due(after: .zero)
      }
    case let other: self = other
    }
  }

  /// The attempt in flight failed for now, and the lane rests until `until`.
  mutating func postponed(until: Instant, isQuarantined: Bool) {
    switch consume self {
    case .inFlight(let attempt):
      self = .resting(
        Lane.RetryBackoff(
          until: until, wake: attempt.wake, isAlert: attempt.isAlert, deadline: attempt.deadline,
          tries: attempt.tries, isLadder: attempt.isLadder, isRepeat: attempt.isRepeat,
          isQuarantined: isQuarantined))
    case let other: self = other
    }
  }

  /// The route has another provider, so a resting lane may try again now.
  mutating func renewed(at now: Instant) {
    switch consume self {
    case .resting(var rest):
      rest.until = min(rest.until, now)
      self = .resting(rest)
    case let other: self = other
    }
  }

  /// The device has another address, so the lane no longer rests because of the earlier address.
  ///
  /// - Returns: true if the lane was resting.
  mutating func moved(_ waiting: Waiting) -> Bool {
    switch consume self {
    case .resting:
      self = waiting == .news ? .due(after: .zero) : .watching
      return true
    case let other:
      self = other
      return false
    }
  }

  /// Something was fetched, withdrawn or cancelled. If nothing is left to tell or to acknowledge,
  /// the lane becomes idle. If something is left to acknowledge and nothing to tell, the lane
  /// becomes watching, or stays resting if the next attempt repeats a wake. The states inFlight and
  /// retired stay.
  ///
  /// - Parameter hasFallback: whether a push must still repeat what the courier told.
  /// - Returns: true if the lane became idle, because nothing is left to tell or to acknowledge.
  mutating func settle(_ waiting: Waiting, hasFallback: Bool) -> Bool {
    switch (waiting, consume self) {
    case (_, .idle): self = .idle
    case (_, .inFlight(let attempt)): self = .inFlight(attempt)
    case (_, .retired(let retirement)): self = .retired(retirement)
    case (.nothing, _):
      self = .idle
      return true
    case (.acknowledgement, .resting(let rest)) where rest.isLadder || rest.isRepeat && hasFallback:
      self = .resting(rest)
    case (.acknowledgement, _): self = .watching
    case (.news, let other): self = other
    }
    return false
  }

  mutating func retired(_ retirement: Retirement) { self = .retired(retirement) }

  /// A new registration ends a retirement. It does not change any other state.
  mutating func registeredAgain() {
    switch consume self {
    case .retired: self = .idle
    case let other: self = other
    }
  }
}
