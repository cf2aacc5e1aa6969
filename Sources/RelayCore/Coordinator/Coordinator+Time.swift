extension Coordinator {
  /// How old the durable time may become while nothing is folded: a start reads its clock against
  /// it, and one that comes after a quiet weekend must not look like one after a long stop.
  static let timeKeptEvery = Span.minutes(10)

  /// The relay's time now. A wall clock that is far off is told once, and so is the end of that.
  mutating func read(_ moment: Moment) -> Instant {
    let reading = clock.read(wall: moment.wall, boot: moment.boot)
    relay.wallAhead = clock.wallAhead
    switch reading {
    case .steady: return reading.instant
    case .jumped: reach(.clockJumped)
    case .believed: reach(.clockBelieved)
    case .corrected: reach(.clockCorrected)
    }
    actions.append(.event(.clock(reading)))
    return reading.instant
  }

  /// A provider names a moment by its own clock.
  func inRelayTime(_ verdict: Verdict) -> Verdict {
    guard case .gone(let since?, let reason) = verdict else { return verdict }
    return .gone(at: clock.instant(ofWall: since), reason)
  }
}

/// What the shell, operators and checkers may ask.
extension Coordinator {
  /// Whether this change was taken before.
  package func knows(_ change: Change) -> Bool { relay.knows(change) }

  /// The wall clock is far ahead of the relay's time, and followed in so much time.
  package var clockDoubt: (ahead: Span, believedIn: Span)? {
    guard let doubt = clock.doubt, let left = clock.believedIn else { return nil }
    return (doubt.ahead, left)
  }

  package var ledger: Ledger { relay.ledger }
  package func ledger(of partition: PartitionID) -> Ledger { relay.ledger(of: partition) }
  package mutating func census(at now: Instant) -> Census { relay.census(at: now) }
  /// Routes that were ever used, in order.
  package var routesInOrder: [(key: RouteKey, route: Route)] { relay.routesInOrder }
  /// A partition's newest fact that was stepped.
  package func stepped(in partition: PartitionID) -> Ordinal { relay.stepped(in: partition) }
  /// Nothing is under way, and nothing waits for a commit or a fold.
  package var isAtRest: Bool {
    cut == nil && commit.isIdle && stepping.isEmpty && forwarding.isEmpty && pacer.isEmpty
      && answers.isEmpty && !relay.isDirty
  }
  /// The relay's time when it was last read.
  package var now: Instant { clock.last }
}
