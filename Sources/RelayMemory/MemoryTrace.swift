package import RelayCore

/// The flight recorder's memory as a value: the newest entries. If it holds `2 * most` entries or
/// more after an addition, only the newest `most` stay, and the value keeps nothing about the
/// removed ones.
package struct MemoryTrace: Sendable {
  /// The entries that are kept, oldest first.
  package private(set) var entries: [TraceEntry] = []
  private let most: Int

  package init(most: Int) { self.most = most }

  package mutating func add(_ new: [TraceEntry]) {
    entries += new
    // The oldest entries are removed in large groups, because each removal moves all other entries.
    if entries.count >= 2 * most { entries.removeFirst(entries.count - most) }
  }

  /// Notes that a life of the daemon begins.
  ///
  /// - Parameter isWhole: whether the life before wrote its last entry.
  package mutating func begin(at now: Instant, isWhole: Bool) {
    if !isWhole { entries.append(TraceEntry(at: now, .lost(nil))) }
    entries.append(TraceEntry(at: now, .began))
  }
}
