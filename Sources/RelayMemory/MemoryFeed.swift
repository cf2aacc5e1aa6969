package import RelayCore

/// One feed: its state and a row a subject.
package struct MemoryFeed: Sendable {
  package var state = FeedState()
  package var rows: [Subject: MemoryRow] = [:]

  package struct MemoryRow: Sendable {
    package var entry: Entry
    /// The relay's time at the fold.
    package var kept: Instant
  }
}

extension MemoryFeed {
  /// Removes the oldest beyond the limit and raises the floor to them.
  mutating func bound(to limit: Int) {
    let excess = rows.count - limit
    guard excess > 0 else { return }
    let oldest = rows.sorted { $0.value.entry.life.position < $1.value.entry.life.position }
    for (subject, row) in oldest.prefix(excess) {
      rows[subject] = nil
      state.floor = max(state.floor, row.entry.life.position)
    }
  }
}
