package import RelayCore

/// One feed: its state and one row for each subject.
package struct MemoryFeed: Sendable {
  package var state = FeedState()
  package var rows: [Subject: MemoryRow] = [:]
  /// True from the moment that the feed is cleared until a trim finds fewer cleared entries than it
  /// may remove.
  var isClearing = false
  /// Subjects of unread notifications, by the notification id with which a device marks them read.
  private var unread: [Identifier: Set<Subject>] = [:]

  package struct MemoryRow: Sendable {
    package var entry: Entry
    /// The relay's time at the fold that wrote the row.
    package var kept: Instant
  }
}

extension MemoryFeed {
  mutating func keep(_ entry: Entry, at: Instant) {
    remove(entry.subject)
    rows[entry.subject] = MemoryRow(entry: entry, kept: at)
    if let id = entry.unread { unread[id, default: []].insert(entry.subject) }
  }

  mutating func remove(_ subject: Subject) {
    guard let row = rows.removeValue(forKey: subject), let id = row.entry.unread else { return }
    unread[id]?.remove(subject)
    if unread[id]?.isEmpty == true { unread[id] = nil }
  }

  /// Folds read marks. The caller must fold the `deltas` of the same `FeedCut` first.
  mutating func mark(_ marks: ReadMarks, at: Instant) {
    let named = Set(marks.notifications.flatMap { unread[$0] ?? [] })
    let visible = named.compactMap { rows[$0]?.entry }.filter {
      $0.life.position > state.cleared
    }
    for entry in Fold.mark(visible, marks) {
      keep(entry, at: at)
      state.head = max(state.head, entry.life.position)
    }
  }

  /// Removes the oldest entries beyond the limit and raises the floor to them.
  mutating func bound(to limit: Int) { removeOldest(rows.count - limit, among: rows) }

  /// Removes the oldest tombstones (entries whose subject is gone or cleared) beyond the limit, and
  /// raises the floor to them.
  ///
  /// - Parameter most: the most tombstones that the call removes.
  mutating func boundTombstones(to limit: Int, most: Int) {
    guard rows.count > limit else { return }
    let gone = rows.filter { row in
      let life = row.value.entry.life
      return !life.isPresent || life.position <= state.cleared
    }
    removeOldest(min(gone.count - limit, most), among: gone)
  }

  private mutating func removeOldest(_ count: Int, among rows: [Subject: MemoryRow]) {
    guard count > 0 else { return }
    let oldest = rows.sorted { $0.value.entry.life.position < $1.value.entry.life.position }
    for (_, row) in oldest.prefix(count) { expire(row) }
  }

  /// Removes an entry that readers may know, and raises the floor to it.
  mutating func expire(_ row: MemoryRow) {
    remove(row.entry.subject)
    state.floor = max(state.floor, row.entry.life.position)
  }
}
