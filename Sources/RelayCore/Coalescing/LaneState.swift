extension Lane {
  /// What a lane does now. Only the inputs below change it; each of them gives every state a next
  /// one.
  package enum State: Hashable, Sendable {
    /// Nothing to tell. → gathering, retired
    case idle
    /// Changes gather. → due, idle, watching, retired
    case gathering(opened: Instant, due: Instant)
    /// The window is over; everything up to `after` must be folded first. → inFlight, gathering,
    /// idle, watching, retired
    case due(after: Ordinal)
    /// → watching, resting, gathering, due, idle, retired
    case inFlight(Attempt)
    /// The attempt failed for now. → inFlight, due, watching, idle, retired
    case resting(RetryBackoff)
    /// All is told and something is not acknowledged. → inFlight, gathering, idle, retired
    case watching
    /// The address is dead. → idle, by a new registration
    case retired(Retirement)
  }

  package struct Attempt: Hashable, Sendable {
    package var wake: UInt32
    package var isAlert: Bool
    package var isLadder: Bool
    /// The wake runs the app, so it covers what it names.
    package var runsApp = true
    /// The wake goes over the courier.
    package var isOverCourier = false
    /// The wake repeats what the courier told, so the ladder stays where it is.
    package var isRepeat = false
    /// The alert that the wake shows.
    package var alert: PendingAlert?
    package var deadline: Instant
    package var tries: Int
    package var at: Instant
    /// When matches came while in flight, or the alert that followed the shown one.
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
    /// The attempt was a re-wake: nothing new pends.
    package var isLadder = false
    /// The attempt was the push that follows the courier: nothing new needs to pend.
    package var isRepeat = false
  }
}

extension Lane.State {
  /// What a lane has to tell, as far as its state depends on it.
  enum Waiting {
    case nothing
    /// Everything is told, and something is not acknowledged.
    case acknowledgement
    /// A fresh subject or an alert is not told.
    case news

    init(_ pending: PendingSet) {
      if pending.isFresh || !pending.alerts.isEmpty {
        self = .news
      } else {
        self = pending.isEmpty ? .nothing : .acknowledgement
      }
    }
  }

  /// The state at start. What was in flight is due again.
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

  /// A notification pends now. The window begins, or is extended up to `windowMax`.
  ///
  /// - Parameter isFirstOpen: everything that was due waits for its slot, and this notification
  ///   does not. So the notification begins a window, as in an idle lane.
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

  /// Takes the alert out of the attempt in flight if it is meant. If the attempt fails, the alert
  /// is not repeated.
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

  /// The attempt in flight was delivered. What came meanwhile gathers, or is due.
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

  /// The attempt in flight failed for now.
  mutating func postponed(until: Instant) {
    switch consume self {
    case .inFlight(let attempt):
      self = .resting(
        Lane.RetryBackoff(
          until: until, wake: attempt.wake, isAlert: attempt.isAlert, deadline: attempt.deadline,
          tries: attempt.tries, isLadder: attempt.isLadder, isRepeat: attempt.isRepeat))
    case let other: self = other
    }
  }

  /// The route has another provider, so a lane does not rest longer than until now.
  mutating func renewed(at now: Instant) {
    switch consume self {
    case .resting(var rest):
      rest.until = min(rest.until, now)
      self = .resting(rest)
    case let other: self = other
    }
  }

  /// The device has another address, so a lane does not rest for the earlier one.
  ///
  /// - Returns: true if the lane rested.
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

  /// Something was fetched, withdrawn or cancelled. A window, a rest or a watch ends when nothing
  /// is left to tell.
  ///
  /// - Parameter hasFallback: a push still has to follow the courier.
  /// - Returns: true if nothing is left, not even to acknowledge.
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

  /// Nothing waits for the device any more.
  mutating func dropped() { self = .idle }

  /// A new registration ends a retirement. An attempt at the earlier address says nothing about the
  /// new one, so it is made again.
  mutating func registeredAgain() {
    switch consume self {
    case .retired: self = .idle
    case let other: self = other
    }
  }
}
