import OrderedCollections

/// The producer's numbers: what comes late, and what is missing.
extension Partition {
  /// A change says its number. One without pays nothing; the next one a look at its zone.
  ///
  /// - Returns: false if a higher number has settled what it is about: it changes nothing.
  mutating func hear(numberOf change: Change, _ step: Step, _ effects: inout [Effect]) -> Bool {
    guard let number = change.sequence else { return true }
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    let outcome = numbers[key, default: ZoneNumbers()].hear(
      number, of: change.origin, about: change.settles, at: step.at, limits: limits)
    note(outcome, in: key, &effects)
    return outcome.applies
  }

  /// The zone's life ended, and its gap with it: the feed was cleared.
  mutating func endNumbers(of change: Change, _ step: Step) {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard var known = numbers[key] else { return }
    if known.gap != .none { zonesWithGap -= 1 }
    known.end(
      by: change.sequence == nil ? nil : change.origin, number: change.sequence ?? 0, at: step.at,
      limits: limits)
    numbers[key] = known.isEmpty ? nil : known
    note(ZoneNumbers.Outcome(deadline: known.deadline(limits)), in: key)
  }

  /// Time has passed for all zones: a fact, because pages show what it leads to.
  mutating func tick(_ step: Step, _ effects: inout [Effect]) {
    isTickAsked = false
    for key in deadlines.takeDue(at: step.at) {
      guard let outcome = numbers[key]?.tick(at: step.at, limits: limits) else { continue }
      note(outcome, in: key, &effects)
      if numbers[key]?.isEmpty == true { numbers[key] = nil }
    }
  }

  /// Whether a tick should be journalled: asked for once, and again after a crash.
  package mutating func isTickDue(at now: Instant) -> Bool {
    guard deadlines.first <= now, !isTickAsked else { return false }
    isTickAsked = true
    return true
  }

  mutating func load(_ row: NumbersRow) {
    let key = ZoneKey(scope: row.scope, zone: row.zone)
    numbers[key] = row.numbers
    if row.numbers.gap != .none { zonesWithGap += 1 }
    deadlines.set(row.numbers.deadline(limits), for: key)
  }

  private mutating func note(
    _ outcome: ZoneNumbers.Outcome, in key: ZoneKey, _ effects: inout [Effect]
  ) {
    note(outcome, in: key)
    guard let gap = outcome.gap else { return }
    zonesWithGap += gap ? 1 : -1
    // The default zone has no feed to show it.
    guard !key.zone.isDefault else { return }
    show(gap: gap, in: FeedKey(scope: key.scope, kind: .zone(key.zone)), &effects)
  }

  private mutating func note(_ outcome: ZoneNumbers.Outcome, in key: ZoneKey) {
    rows.numbers.append(key)
    deadlines.set(outcome.deadline, for: key)
  }
}

extension Partition.ZoneKey: Comparable {
  static func < (left: Self, right: Self) -> Bool {
    (left.scope, left.zone) < (right.scope, right.zone)
  }
}
