/// The state of the numbers that producers give a zone's changes, with one space for each producer
/// and source. The tracker finds late changes that a higher number has settled, and whether the
/// zone has a gap.
///
/// ```
/// highest + 1        ─▶ applies
/// above highest + 1  ─▶ applies, and opens holes
/// missing            ─▶ closes its hole; applies unless a higher number has settled the subject
/// lower, not missing ─▶ applies, because only a remembered id proves a repeated change
/// ```
package struct SequenceTracker: Hashable, Sendable {
  package enum Gap: UInt8, Hashable, Sendable {
    case none = 1
    /// Numbers have been missing for longer than `Limits.gapAfter`. The gap ends when these numbers
    /// come.
    case open
    /// Holes were given up, because they were too many or too old. The gap ends with the zone's
    /// life.
    case permanent
  }

  /// The number spaces, ordered by the arrival of their last number, the newest last; at most
  /// `Limits.sourcesPerZone`.
  package var spaces: [SequenceSpace]
  package var gap: Gap
  package var outlived: Outlived?

  package init(spaces: [SequenceSpace] = [], gap: Gap = .none, outlived: Outlived? = nil) {
    (self.spaces, self.gap, self.outlived) = (spaces, gap, outlived)
  }

  package var isEmpty: Bool { spaces.isEmpty && gap == .none && outlived == nil }

  /// The effect of a number's arrival, or of a tick.
  package struct Outcome: Hashable, Sendable {
    /// Whether the change has an effect; `false` means that a higher number has settled its
    /// subject, or that the change belongs to an earlier life of the zone, which has ended.
    package var applies = true
    /// Whether the zone has a gap; `nil` means that this did not change.
    package var gap: Bool?
    /// When `tick` should be called; `.never` if no call is needed.
    package var deadline = Instant.never
  }

  /// Takes the number of a change whose id is not remembered.
  ///
  /// - Parameter subject: what the change settles, if anything.
  package mutating func hear(
    _ number: Int64, of origin: UInt64, about subject: UInt64?, at now: Instant, limits: Limits
  ) -> Outcome {
    let had = gap
    forget(at: now, limits)
    let applies = take(number, of: origin, about: subject, at: now, limits)
    if gap == .open, overdue(limits) > now { gap = .none }
    return outcome(since: had, applies: applies, limits)
  }

  /// Steps a tick: forgets numbers that have been missing for too long, and finds whether the zone
  /// has a gap now.
  package mutating func tick(at now: Instant, limits: Limits) -> Outcome {
    let had = gap
    forget(at: now, limits)
    if gap == .none, overdue(limits) <= now { gap = .open }
    return outcome(since: had, applies: true, limits)
  }

  /// The zone's life ended, so the tracker no longer waits for its missing numbers.
  ///
  /// - Parameter origin: the number space of the change that ended the life; `nil` means that the
  ///   change had no number. This number space continues, and its late changes from before the end
  ///   must not begin a new life of the zone.
  package mutating func end(
    by origin: UInt64?, number: Int64, at now: Instant, limits: Limits
  ) {
    var left: Outlived?
    if let own = spaces.first(where: { $0.origin == origin }) {
      var runs = own.missing.below(number).runs
      if let outlived, outlived.origin == origin { runs = outlived.holes.runs + runs }
      let holes = SequenceGaps(runs)
      left = Outlived(
        origin: own.origin, end: number, highest: own.highest,
        holes: holes.count > limits.missingPerZone ? own.missing.below(number) : holes, since: now)
    }
    self = SequenceTracker(outlived: left)
  }

  /// When `tick` should be called; `.never` if no call is needed.
  package func deadline(_ limits: Limits) -> Instant {
    let forgotten = outlived.map { $0.since + limits.missingFor } ?? .never
    return gap == .none ? min(forgotten, overdue(limits)) : forgotten
  }

  private func overdue(_ limits: Limits) -> Instant {
    spaces.reduce(.never) { min($0, ($1.missing.oldest ?? .never) + limits.gapAfter) }
  }

  private func outcome(since had: Gap, applies: Bool, _ limits: Limits) -> Outcome {
    let isNews = (had == .none) != (gap == .none)
    return Outcome(
      applies: applies, gap: isNews ? gap != .none : nil, deadline: deadline(limits))
  }
}

extension SequenceTracker {
  private mutating func take(
    _ number: Int64, of origin: UInt64, about subject: UInt64?, at now: Instant, _ limits: Limits
  ) -> Bool {
    if isOutlived(number, of: origin) { return false }
    if let index = spaces.lastIndex(where: { $0.origin == origin }) {
      spaces.append(spaces.remove(at: index))
    } else {
      begin(origin, with: number, limits)
    }
    let last = spaces.count - 1
    let highest = spaces[last].highest
    if number > highest {
      if number - highest > 1 {
        open(SequenceGaps.Run(first: highest + 1, last: number - 1, since: now), limits)
      }
      spaces[last].highest = number
    } else if spaces[last].missing.close(number) {
      let isSettled = spaces[last].isSettled(subject, above: number)
      if spaces[last].missing.isEmpty { spaces[last].settled = [:] }
      if isSettled { return false }
    }
    settle(subject, by: number, limits)
    return true
  }

  /// Begins a space. Numbers below the first one of the space do not count as missing.
  private mutating func begin(_ origin: UInt64, with number: Int64, _ limits: Limits) {
    var highest = number
    if let outlived, outlived.origin == origin { highest = outlived.highest }
    spaces.append(SequenceSpace(origin: origin, highest: highest))
    guard spaces.count > limits.sourcesPerZone else { return }
    // The missing numbers of a forgotten space can no longer be recognised.
    if !spaces.removeFirst().missing.isEmpty { gap = .permanent }
  }

  /// Whether the change happened before the zone's end but arrives later, and so has no effect.
  private mutating func isOutlived(_ number: Int64, of origin: UInt64) -> Bool {
    guard let known = outlived, known.origin == origin, number < known.end else { return false }
    if outlived?.holes.close(number) == true { return true }
    // The number is known but the change's id is new, so the producer counts anew and none of its
    // numbers is late.
    outlived = nil
    return false
  }

  private mutating func open(_ run: SequenceGaps.Run, _ limits: Limits) {
    let missing = spaces.reduce(0) { $0 + $1.missing.count }
    // This comparison cannot overflow, although `run` may be as long as `Int64` allows.
    guard run.last - run.first < Int64(limits.missingPerZone) - missing else {
      gap = .permanent
      return
    }
    spaces[spaces.count - 1].missing.open(run)
  }

  /// Records the number in its space, the last one of `spaces`. A late change that fills a lower
  /// hole of this space then does not undo the change with this number.
  private mutating func settle(_ subject: UInt64?, by number: Int64, _ limits: Limits) {
    let last = spaces.count - 1
    guard let subject, let lowest = spaces[last].missing.lowest, number > lowest else { return }
    if let known = spaces[last].settled[subject] {
      spaces[last].settled[subject] = max(known, number)
      return
    }
    if settledCount >= limits.settledPerZone {
      spaces[last].settled = spaces[last].settled.filter { $0.value > lowest }
    }
    guard settledCount < limits.settledPerZone else {
      spaces[last].giveUp()
      gap = .permanent
      return
    }
    spaces[last].settled[subject] = number
  }

  private var settledCount: Int { spaces.reduce(0) { $0 + $1.settled.count } }

  private mutating func forget(at now: Instant, _ limits: Limits) {
    if let known = outlived, known.since + limits.missingFor <= now { outlived = nil }
    for index in spaces.indices {
      guard let oldest = spaces[index].missing.oldest, oldest + limits.missingFor <= now,
        spaces[index].missing.forget(through: now - limits.missingFor)
      else { continue }
      gap = .permanent
      if spaces[index].missing.isEmpty { spaces[index].settled = [:] }
    }
  }
}
