import OrderedCollections

/// The state of the producers' numbers for each zone that has any, and which zones wait for a tick.
struct ZoneSequences: Sendable {
  private var trackers: [ZoneKey: SequenceTracker] = [:]
  private var deadlines = Deadlines()
  /// Whether a tick is on its way into the journal.
  private var isTickAsked = false
  private var written: OrderedSet<ZoneKey> = []
  private(set) var zonesWithGap = 0

  var isDirty: Bool { !written.isEmpty }

  /// When the first zone needs a tick; `nil` means that no zone needs one, or that a tick is on its
  /// way into the journal.
  var nextTick: Instant? { deadlines.first < .never && !isTickAsked ? deadlines.first : nil }

  /// Takes the number of a change whose id is not remembered.
  mutating func hear(
    _ number: Int64, of origin: UInt64, about subject: UInt64?, in key: ZoneKey, at now: Instant,
    limits: Limits
  ) -> SequenceTracker.Outcome {
    let outcome = trackers[key, default: SequenceTracker()].hear(
      number, of: origin, about: subject, at: now, limits: limits)
    note(outcome, in: key)
    return outcome
  }

  /// The zone's life ended, so its gap ends too.
  mutating func end(
    _ key: ZoneKey, by origin: UInt64?, number: Int64, at now: Instant, limits: Limits
  ) {
    guard var known = trackers[key] else { return }
    if known.gap != .none { zonesWithGap -= 1 }
    known.end(by: origin, number: number, at: now, limits: limits)
    trackers[key] = known.isEmpty ? nil : known
    written.append(key)
    deadlines.set(known.deadline(limits), for: key)
  }

  /// Steps a tick for all zones whose deadline has come.
  ///
  /// - Returns: the effects, in the order of the zones' names.
  mutating func tick(at now: Instant, limits: Limits) -> [(ZoneKey, SequenceTracker.Outcome)] {
    isTickAsked = false
    var outcomes: [(ZoneKey, SequenceTracker.Outcome)] = []
    for key in deadlines.takeDue(at: now) {
      guard let outcome = trackers[key]?.tick(at: now, limits: limits) else { continue }
      note(outcome, in: key)
      if trackers[key]?.isEmpty == true { trackers[key] = nil }
      outcomes.append((key, outcome))
    }
    return outcomes
  }

  /// Whether the caller should journal a tick. The result is true once for each tick, and again
  /// after a crash.
  mutating func isTickDue(at now: Instant) -> Bool {
    guard deadlines.first <= now, !isTickAsked else { return false }
    isTickAsked = true
    return true
  }

  mutating func load(_ row: NumbersRow, limits: Limits) {
    let key = ZoneKey(scope: row.scope, zone: row.zone)
    trackers[key] = row.numbers
    if row.numbers.gap != .none { zonesWithGap += 1 }
    deadlines.set(row.numbers.deadline(limits), for: key)
  }

  mutating func drain(into cut: inout PartitionCut) {
    cut.numbers = written.map {
      NumbersRow(scope: $0.scope, zone: $0.zone, numbers: trackers[$0] ?? SequenceTracker())
    }
    written = []
  }

  private mutating func note(_ outcome: SequenceTracker.Outcome, in key: ZoneKey) {
    written.append(key)
    deadlines.set(outcome.deadline, for: key)
    if let gap = outcome.gap { zonesWithGap += gap ? 1 : -1 }
  }
}
