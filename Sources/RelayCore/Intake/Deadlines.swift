import HeapModule

/// Which zones wait for a tick, and until when. A change of one zone's deadline costs O(log n) for
/// n waiting zones, because producers decide how many zones wait.
struct Deadlines: Sendable {
  private var byZone: [ZoneKey: Instant] = [:]
  /// The heap also holds deadlines that no zone has any more; `settle` drops them when they come
  /// first.
  private var heap = Heap<Item>()

  private struct Item: Comparable {
    var at: Instant
    var zone: ZoneKey

    static func < (left: Item, right: Item) -> Bool {
      left.at == right.at ? left.zone < right.zone : left.at < right.at
    }
  }

  /// The earliest deadline; `.never` if no zone waits.
  private(set) var first = Instant.never

  /// - Parameter deadline: `.never` if the zone no longer waits.
  mutating func set(_ deadline: Instant, for zone: ZoneKey) {
    guard byZone[zone] ?? .never != deadline else { return }
    byZone[zone] = deadline == .never ? nil : deadline
    if deadline < .never { heap.insert(Item(at: deadline, zone: zone)) }
    // The heap is made anew when more than about half of its items are outdated.
    if heap.count > 2 * byZone.count + 16 {
      heap = Heap(byZone.map { Item(at: $0.value, zone: $0.key) })
    }
    settle()
  }

  /// Zones whose deadline has come, in the order of their names. They wait again only after a new
  /// `set`.
  mutating func takeDue(at now: Instant) -> [ZoneKey] {
    var due: [ZoneKey] = []
    while let item = heap.min, item.at <= now {
      heap.removeMin()
      guard byZone[item.zone] == item.at else { continue }
      byZone[item.zone] = nil
      due.append(item.zone)
    }
    settle()
    return due.sorted()
  }

  private mutating func settle() {
    while let item = heap.min, byZone[item.zone] != item.at { heap.removeMin() }
    first = heap.min?.at ?? .never
  }
}
