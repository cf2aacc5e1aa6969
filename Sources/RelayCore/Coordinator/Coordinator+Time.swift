extension Coordinator {
  /// When the newest durable time is this old, a fold writes the time, even if nothing else is to
  /// be folded. A start compares the wall clock with the durable time, and a start after a quiet
  /// weekend must not look like a start after a long stop.
  static let timeKeptEvery = Span.minutes(10)

  /// Translates the moment in a verdict from the provider's clock to the relay's time.
  func inRelayTime(_ verdict: Verdict) -> Verdict {
    guard case .gone(let since?, let reason) = verdict else { return verdict }
    return .gone(at: clock.instant(ofWall: since), reason)
  }
}

/// What the shell, operators and checkers may read.
extension Coordinator {
  /// Whether this change's id is remembered.
  package func knows(_ change: Change) -> Bool { relay.knows(change) }

  package var ledger: Ledger { relay.ledger }
  package func ledger(of partition: PartitionID) -> Ledger { relay.ledger(of: partition) }
  package mutating func census(at now: Instant) -> Census { relay.census(at: now) }
  /// What the relay knows of devices now, for explanations.
  package func standings(of devices: [DeviceKey], zones: [ZoneID]) -> [Standing] {
    relay.standings(of: devices, zones: zones, at: clock.last)
  }
  /// Routes that were ever used, in order of their keys.
  package var routesInOrder: [(key: RouteKey, route: Route)] { relay.routesInOrder }
  /// Whether `status` lists this route. It lists a route without a sender until the last attempt
  /// has ended.
  package func isListed(_ key: RouteKey) -> Bool { relay.isListed(key) }
  /// The newest fact that was stepped in the partition.
  package func stepped(in partition: PartitionID) -> Ordinal { relay.stepped(in: partition) }
  /// Whether no fact, message, slice or answer waits, and no cut is under way or due. Pushes in
  /// flight and trims do not count.
  package var isAtRest: Bool {
    cut == nil && commit.isIdle && stepping.isEmpty && forwarding.isEmpty && pacer.isEmpty
      && answers.isEmpty && !relay.isDirty
  }
  /// The relay's time when it was last read.
  package var now: Instant { clock.last }
}
