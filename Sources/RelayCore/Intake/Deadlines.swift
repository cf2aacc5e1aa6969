import HeapModule

/// Which zones wait for a tick, and until when. A new deadline of one zone costs only O(log n) for
/// n waiting zones. The cost must stay low, because producers decide how many zones wait.
struct Deadlines: Sendable {
  private var byZone: [ZoneKey: Instant] = [:]
  /// The heap also holds deadlines that no zone has any more; `settle` drops them when they come
  /// first.
  private var heap = Heap<TimeOrdered<ZoneKey>>()

  /// The earliest deadline; `.never` if no zone waits.
  private(set) var first = Instant.never

  /// - Parameter deadline: `.never` if the zone no longer waits.
  mutating func set(_ deadline: Instant, for zone: ZoneKey) {
    guard byZone[zone] ?? .never != deadline else { return }
    byZone[zone] = deadline == .never ? nil : deadline
    if deadline < .never { heap.insert(TimeOrdered(at: deadline, item: zone)) }
    // The heap is made anew when more than about half of its items are outdated.
    if heap.count > 2 * byZone.count + 16 {
      heap = Heap(byZone.map { TimeOrdered(at: $0.value, item: $0.key) })
    }
    settle()
  }

  /// Zones whose deadline has come, in the order of their names. They wait again only after a new
  /// `set`.
  mutating func takeDue(at now: Instant) -> [ZoneKey] {
    var due: [ZoneKey] = []
    while let first = heap.min, first.at <= now {
      heap.removeMin()
      guard byZone[first.item] == first.at else { continue }
      byZone[first.item] = nil
      due.append(first.item)
    }
    settle()
    return due.sorted()
  }

  private mutating func settle() {
    while let first = heap.min, byZone[first.item] != first.at { heap.removeMin() }
    first = heap.min?.at ?? .never
  }
}
