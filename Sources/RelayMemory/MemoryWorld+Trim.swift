package import RelayCore

extension MemoryWorld {
  /// Removes cleared entries and old entries. The floor of a feed rises to the newest old entry
  /// that is removed from the feed.
  ///
  /// - Returns: the number of removed rows, plus one for each cleared feed that had no rows to
  ///   remove; at most `limit`.
  package mutating func trim(
    tombstones: Instant, notifications: Instant, limit: Int, of partitions: Set<PartitionID>
  ) -> Int {
    var left = limit
    for key in feeds.keys.sorted() where partitions.contains(key.partition) {
      left -= feeds[key]?.removeCleared(limit: left) ?? 0
    }
    for (aging, instant) in [(Aging.tombstone, tombstones), (.notification, notifications)] {
      var old: [(FeedKey, MemoryFeed.MemoryRow)] = []
      for (key, feed) in feeds where partitions.contains(key.partition) {
        for row in feed.rows.values where row.kept < instant && Aging(row.entry) == aging {
          old.append((key, row))
        }
      }
      old.sort { ($0.1.kept, $0.1.entry.life.position) < ($1.1.kept, $1.1.entry.life.position) }
      for (key, row) in old.prefix(left) {
        feeds[key]?.expire(row)
        left -= 1
      }
    }
    return limit - left
  }
}

extension MemoryFeed {
  /// - Returns: the cost counted towards `limit`. It is zero if `isClearing` is false or `limit` is
  ///   zero. In all other cases it is the number of removed rows, but at least one.
  fileprivate mutating func removeCleared(limit: Int) -> Int {
    guard isClearing, limit > 0 else { return 0 }
    let hidden = rows.filter { $0.value.entry.life.position <= state.cleared }
      .sorted { $0.value.entry.life.position < $1.value.entry.life.position }
    for (subject, _) in hidden.prefix(limit) { remove(subject) }
    isClearing = hidden.count >= limit
    return min(max(1, hidden.count), limit)
  }
}
