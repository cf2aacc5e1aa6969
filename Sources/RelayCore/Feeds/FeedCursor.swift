/// The part of a partition's history that one life of the daemon wrote. A new era begins whenever a
/// daemon takes over the partition, so that a token names the history from which it was issued
/// (P10).
package struct Era: Hashable, Sendable {
  /// A random number, drawn outside the core.
  package var id: UInt64
  /// The first ordinal that may have been assigned in this era.
  package var first: Ordinal

  package init(id: UInt64, first: Ordinal) {
    self.id = id
    self.first = first
  }
}

/// The eras of a partition, oldest first.
package struct Eras: Hashable, Sendable {
  package private(set) var all: [Era]

  package init(_ all: [Era]) { self.all = all }

  /// The era in which an ordinal was assigned. Equal positions give equal eras, so tokens of an
  /// unchanged feed have equal bytes.
  package func of(_ ordinal: Ordinal) -> Era? {
    all.last { $0.first <= ordinal } ?? all.first
  }

  /// Whether `place` names an era that this store had, and is within that era.
  package func contain(_ place: FeedCursor) -> Bool {
    guard let index = all.firstIndex(where: { $0.id == place.era }) else { return false }
    let end = index + 1 < all.count ? all[index + 1].first : nil
    return end.map { place.newest.ordinal < $0 } ?? true
  }

  /// Where the history begins that replaced the lost history of `place`. Every position in the
  /// restored copy is below this beginning.
  ///
  /// If the copy has the era of `place`, that era was the last one in the copy, and the restore
  /// began the next era. If the copy does not have the era of `place`, that era began after the
  /// copy was made. In the restored store, another era has the position of `place`, and that era
  /// began with the restore or later. The result is where that era begins.
  package func beginning(insteadOf place: FeedCursor) -> Position {
    guard let index = all.firstIndex(where: { $0.id == place.era }) else {
      return of(place.newest.ordinal).map { Position($0.first) } ?? .zero
    }
    return Position(all[min(index + 1, all.count - 1)].first)
  }

  package func knows(_ id: UInt64) -> Bool { all.contains { $0.id == id } }
}

/// The content of a verified change token: how far the client has read.
package struct FeedCursor: Hashable, Sendable {
  package var era: UInt64
  package var position: Position
  /// The feed's head when a catch-up of several pages began. `nil` means that the client is caught
  /// up, and has exactly what the feed held at `position`.
  package var scanHead: Position?
  /// Where the catch-up of several pages began: zero if it began without a token. Valid only with
  /// `scanHead`.
  package var base: Position
  /// The feed's head when the newest page of the catch-up was read. The entries that follow that
  /// page had positions up to this head. So a history that ends below this head is not the history
  /// that was read. Valid only with `scanHead`.
  package var seen: Position

  package init(
    era: UInt64, position: Position, scanHead: Position? = nil, base: Position = .zero,
    seen: Position = .zero
  ) {
    self.era = era
    self.position = position
    self.scanHead = scanHead
    self.base = base
    self.seen = seen
  }

  /// The newest of the positions that the cursor depends on.
  package var newest: Position { max(position, scanHead ?? .zero, seen) }

  /// In a catch-up that began without a token, deleted entries up to this position are not shown,
  /// because the client never had their subjects. Zero in all other cases. Stores may skip these
  /// entries unread.
  package var goneHidden: Position { base == .zero ? scanHead ?? .zero : .zero }
}
