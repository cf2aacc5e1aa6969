/// The producer's numbers: which changes come late, and which are missing.
extension Partition {
  /// Takes the number of a change. A change without a number costs nothing, and the next number of
  /// a number space costs one lookup.
  ///
  /// - Returns: false if this change has no effect, because a higher number has settled the same
  ///   subject, or because the change is from before the end of the zone's earlier life.
  mutating func hear(numberOf change: Change, _ step: Step, _ effects: inout [Effect]) -> Bool {
    guard let number = change.sequence else { return true }
    let key = change.zoneKey
    let outcome = sequences.hear(
      number, of: change.origin, about: change.settles, in: key, at: step.at, limits: limits)
    show(outcome, in: key, &effects)
    return outcome.applies
  }

  /// The zone's life ended. Its gap ends too, because the feed was cleared.
  mutating func endNumbers(of change: Change, _ step: Step) {
    sequences.end(
      change.zoneKey, by: change.sequence == nil ? nil : change.origin,
      number: change.sequence ?? 0, at: step.at, limits: limits)
  }

  /// Steps a tick: finds the zones whose numbers have been missing for too long. A tick is a fact,
  /// because a tick decides which pages show a gap.
  mutating func tick(_ step: Step, _ effects: inout [Effect]) {
    for (key, outcome) in sequences.tick(at: step.at, limits: limits) {
      show(outcome, in: key, &effects)
    }
  }

  /// Whether a tick should be journalled.
  package mutating func isTickDue(at now: Instant) -> Bool { sequences.isTickDue(at: now) }

  package var zonesWithGap: Int { sequences.zonesWithGap }

  private mutating func show(
    _ outcome: SequenceTracker.Outcome, in key: ZoneKey, _ effects: inout [Effect]
  ) {
    // The default zone has no feed that could show the gap.
    guard let gap = outcome.gap, !key.zone.isDefault else { return }
    feeds.show(gap: gap, in: FeedKey(scope: key.scope, kind: .zone(key.zone)), &effects)
  }
}
