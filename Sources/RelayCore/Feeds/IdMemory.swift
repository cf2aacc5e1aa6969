import DequeModule

/// Drops repeats at the door (L20): 64-bit keyed hashes of (producer, source, id), in journal
/// order, for a time or a number, whichever is shorter.
package struct IdMemory: Sendable {
  private var known: Set<UInt64> = []
  private var order: Deque<Remembered> = []

  package init() {}

  package var count: Int { order.count }
  package var oldest: Instant? { order.first?.at }

  /// - Returns: false if it is remembered already.
  package mutating func remember(_ item: Remembered) -> Bool {
    guard known.insert(item.fingerprint).inserted else { return false }
    order.append(item)
    return true
  }

  /// Forgets what is too old or too much.
  ///
  /// - Returns: the last fact all of whose ids are forgotten, if any went.
  package mutating func evict(at now: Instant, limits: Limits, share: Int) -> Ordinal? {
    var last: Ordinal?
    while let first = order.first,
      order.count > limits.rememberedIDs / share || first.at + limits.rememberedFor <= now
    {
      order.removeFirst()
      known.remove(first.fingerprint)
      last = first.ordinal
    }
    return last
  }
}
