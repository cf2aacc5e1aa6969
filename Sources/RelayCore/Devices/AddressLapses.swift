import HeapModule

/// When to check whether the address of a device without a provider has lapsed, with at most one
/// check time for each slot.
struct AddressLapses: Sendable {
  private var looks = Heap<TimeOrdered<Int>>()
  private var slots: Set<Int> = []

  var next: Instant? { looks.min?.at }
  var count: Int { looks.count }

  /// Adds a check time, unless the slot has one. A reused slot may still have the earlier device's
  /// time, which is earlier than the new device's time. The check then applies to the device that
  /// is in the slot by then.
  mutating func look(at device: Int, _ time: Instant) {
    guard slots.insert(device).inserted else { return }
    looks.insert(TimeOrdered(at: time, item: device))
  }

  /// Removes and returns the next slot whose check time has come; `nil` if there is none.
  mutating func takeDue(at now: Instant) -> Int? {
    guard let look = looks.min, look.at <= now else { return nil }
    looks.removeMin()
    slots.remove(look.item)
    return look.item
  }
}
