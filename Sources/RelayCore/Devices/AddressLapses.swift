import HeapModule

/// When to look whether the address of a device without a provider has lapsed: at most one time for
/// each slot.
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

  /// A slot that was used before may still have its time: that comes earlier, and the device that
  /// is in the slot then is looked at.
  mutating func look(at device: Int, _ time: Instant) {
    guard slots.insert(device).inserted else { return }
    looks.insert(Look(at: time, device: device))
  }

  /// The next slot whose time has come.
  mutating func takeDue(at now: Instant) -> Int? {
    guard let look = looks.min, look.at <= now else { return nil }
    looks.removeMin()
    slots.remove(look.device)
    return look.device
  }
}
