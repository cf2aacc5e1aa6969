import HeapModule

/// When to check whether the address of a device without a provider has lapsed, with at most one
/// check time for each slot.
struct AddressLapses: Sendable {
  private struct Look: Comparable, Sendable {
    var at: Instant
    var device: Int

    static func < (left: Look, right: Look) -> Bool {
      (left.at, left.device) < (right.at, right.device)
    }
  }

  private var looks = Heap<Look>()
  private var slots: Set<Int> = []

  var next: Instant? { looks.min?.at }
  var count: Int { looks.count }

  /// Adds a check time, unless the slot has one. A reused slot may still have the earlier device's
  /// time, which is earlier than the new device's time. The check then applies to the device that
  /// is in the slot by then.
  mutating func look(at device: Int, _ time: Instant) {
    guard slots.insert(device).inserted else { return }
    looks.insert(Look(at: time, device: device))
  }

  /// Removes and returns the next slot whose check time has come; `nil` if there is none.
  mutating func takeDue(at now: Instant) -> Int? {
    guard let look = looks.min, look.at <= now else { return nil }
    looks.removeMin()
    slots.remove(look.device)
    return look.device
  }
}
