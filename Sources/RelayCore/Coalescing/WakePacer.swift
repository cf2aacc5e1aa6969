/// The smear of one hot zone in one partition: its wakes, spread over time.
///
/// Every woken device fetches, and a million fetches in one second overload a record server. So
/// each matched lane takes a *slot* in the smear. Before its slot the device must not fetch the
/// zone, and the relay sends no wake for the zone alone.
///
/// Slots follow each other at equal gaps. A hash divides the users among the partitions, so each
/// partition has its share of the users and of the rate, independent of the other partitions. The
/// slots of the partitions begin at different fractions of the gap, so that all slots together are
/// evenly spread.
package struct WakePacer: Hashable, Sendable {
  package struct Rule: Hashable, Sendable {
    /// A change is hot if it matches more users than this. Each partition compares with its share
    /// of this number.
    package var above = 1_000
    /// The wakes a second for one hot zone in the whole relay; `nil` means that there is no limit.
    package var rate: Int?
    /// The longest wait for a slot. If the rate needs more time, the rate is raised.
    package var longest = Span.minutes(10)

    package init() {}

    /// The time from one slot to the next in one partition, in microseconds; `nil` means that wakes
    /// are not smeared.
    ///
    /// - Parameter capacity: the fetches a second that the change's producer declared; 0 if it
    ///   declared none.
    package func gap(capacity: Int) -> Int64? {
      let rates = [rate, capacity == 0 ? nil : capacity].compactMap(\.self)
      guard let least = rates.min() else { return nil }
      return max(1, Int64(PartitionID.count) * 1_000_000 / Int64(least))
    }

    /// A change is hot if it matches more users of one partition than this.
    package var aboveHere: Int { above / PartitionID.count }
  }

  package struct Slot: Hashable, Sendable {
    package var at: Instant
    /// Whether the next free slot was later than `longest` allows, so that this slot begins another
    /// sequence of slots beside the earlier sequence.
    package var isHurried: Bool
  }

  /// A lane is late if it comes this long after its slot. A late lane takes another slot, once. So
  /// lanes that waited for the end of an outage or restart are not all woken together.
  package static let lateAfter = Span.seconds(5)

  /// The next free slot, in microseconds, because gaps may be shorter than a millisecond.
  private var next: Int64 = 0
  /// Where in a gap the slots begin: the fractional part of (`phase` × the golden ratio). So the
  /// slots of any number of sequences are evenly spread, in one partition or many.
  private var phase: UInt64
  /// The fetches a second that the last hot change's producer declared; 0 if it declared none.
  package private(set) var capacity = 0

  package init(in partition: PartitionID) { phase = UInt64(partition.number) }

  /// The next free slot, rounded down to whole milliseconds.
  package var end: Instant { Instant(milliseconds: next / 1_000) }

  /// Takes the next lane's slot: not before `earliest`, and not after the later of `earliest` and
  /// `now + longest`.
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

  /// Adds a slot that was assigned before a restart. The next free slot is then not before `slot`.
  package mutating func recovered(_ slot: Instant) {
    next = max(next, slot.milliseconds * 1_000)
  }

  /// How the remaining slots move when the rule changes; `nil` means that they stay. If the new
  /// rule has no rate, lanes keep their slots, so that they do not all wake at once.
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

  /// The part of `length` before the first slot, as `phase` gives it.
  private func offset(_ length: Int64) -> Int64 {
    let fraction = Int64((phase &* 0x9e37_79b9_7f4a_7c15) >> 48)
    return length * fraction / 65_536
  }

  /// Moves slots towards the instant `from`, or away from it, all in the same proportion.
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
