/// The line of one hot zone in one partition: its wakes, spread over time.
///
/// Whoever is woken fetches, and a million phones that fetch in one second are more than a record
/// server can bear. So each matched lane takes a *slot* here: the moment before which the zone is
/// not to be fetched, and before which nothing is said of it for its own sake.
///
/// Slots follow each other at one gap. Users are divided by hash, so each partition has its share
/// of them and of the rate, and needs to know nothing of the others; their lines begin at different
/// fractions of the gap, so that together they make an even stream.
package struct WakePacer: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// A change is hot if it matches more users than this. Each partition goes by its share.
    package var above = 1_000
    /// Wakes a second for one hot zone in the whole relay; nil: as many as come.
    package var rate: Int?
    /// No slot is further away. Where the rate would need more, it is raised.
    package var longest = Span.minutes(10)

    package init() {}

    /// From one slot to the next in one partition, in microseconds; nil: nothing is smeared.
    ///
    /// - Parameter capacity: fetches a second that the change's producer declared; 0: nothing.
    package func gap(capacity: Int) -> Int64? {
      let rates = [rate, capacity == 0 ? nil : capacity].compactMap(\.self)
      guard let least = rates.min() else { return nil }
      return max(1, Int64(PartitionID.count) * 1_000_000 / Int64(least))
    }

    /// Matched users of one partition beyond which a change is hot.
    package var aboveHere: Int { above / PartitionID.count }
  }

  package struct Slot: Hashable, Sendable {
    package var at: Instant
    /// The line had reached `longest`, and this slot begins another one beside it.
    package var isHurried: Bool
  }

  /// A lane that comes this long after its slot is late and takes another one, once: after an
  /// outage or a restart, those that waited for its end do not wake as one.
  package static let lateAfter = Span.seconds(5)

  /// The next free slot, in microseconds: gaps may be shorter than a millisecond.
  private var next: Int64 = 0
  /// How far into a gap the line begins, as a multiple of the golden ratio: whatever lines there
  /// are beside each other, in one partition or many, their slots lie evenly.
  private var phase: UInt64
  /// What the last hot change's producer declared; 0: nothing.
  package private(set) var capacity = 0

  package init(in partition: PartitionID) { phase = UInt64(partition.number) }

  /// The last slot given, or earlier.
  package var end: Instant { Instant(milliseconds: next / 1_000) }

  /// The next lane's slot: not before `earliest`, and not after `now` + `longest` unless that is.
  package mutating func take(
    from earliest: Instant, at now: Instant, gap: Int64, longest: Span, capacity: Int
  ) -> Slot {
    self.capacity = capacity
    let first = earliest.milliseconds * 1_000
    let last = max(first, (now + longest).milliseconds * 1_000)
    var slot = next
    var isHurried = false
    if slot > last {
      isHurried = true
      phase += UInt64(PartitionID.count)
    }
    if isHurried || slot < first { slot = first + offset(min(gap, last - first)) }
    next = slot + gap
    return Slot(at: Instant(milliseconds: (slot + 999) / 1_000), isHurried: isHurried)
  }

  /// A slot that an earlier life gave.
  package mutating func recovered(_ slot: Instant) {
    next = max(next, slot.milliseconds * 1_000)
  }

  /// By how much what is left of the line is stretched, when the rule becomes another one; nil: it
  /// stays as it is. Without a rule what waits keeps its slot: whoever turns smearing off does not
  /// ask for a herd.
  package func stretch(from old: Rule, to new: Rule, at now: Instant) -> Stretch? {
    let left = end - now
    guard left > .zero, let before = old.gap(capacity: capacity),
      let after = new.gap(capacity: capacity)
    else { return nil }
    let stretch = Stretch(from: now, of: after, to: before)
    guard stretch.apply(to: end) > now + new.longest else {
      return after == before ? nil : stretch
    }
    return Stretch(from: now, of: new.longest.milliseconds, to: left.milliseconds)
  }

  package mutating func apply(_ stretch: Stretch) {
    next = stretch.apply(to: end).milliseconds * 1_000
  }

  /// A fraction of `length` that differs for each phase.
  private func offset(_ length: Int64) -> Int64 {
    let fraction = Int64((phase &* 0x9e37_79b9_7f4a_7c15) >> 48)
    return length * fraction / 65_536
  }

  /// Slots that come closer to a moment, or go away from it, all in the same proportion.
  package struct Stretch: Hashable, Sendable {
    var from: Instant
    var of: Int64
    var to: Int64

    package func apply(to slot: Instant) -> Instant {
      let left = (slot - from).milliseconds
      guard left > 0 else { return slot }
      return from + Span(milliseconds: left / to * of + left % to * of / to)
    }
  }
}
