/// One life of a partition's history. An era is written whenever a relay takes over the partition,
/// so that a token names the history that it was issued from (P10).
package struct Era: Hashable, Sendable {
  /// Random, drawn outside the core.
  package var id: UInt64
  /// The first ordinal that this life may have assigned.
  package var first: Ordinal

  package init(id: UInt64, first: Ordinal) {
    self.id = id
    self.first = first
  }
}

/// The lives of a partition, oldest first.
package struct Eras: Hashable, Sendable {
  package private(set) var all: [Era]

  package init(_ all: [Era]) { self.all = all }

  /// The life in which an ordinal was assigned. Equal positions give equal eras, so tokens of an
  /// unchanged feed are equal bytes.
  package func of(_ ordinal: Ordinal) -> Era? {
    all.last { $0.first <= ordinal } ?? all.first
  }

  /// Whether `place` names a life that this store had, and lies within that life.
  package func contain(_ place: FeedCursor) -> Bool {
    guard let index = all.firstIndex(where: { $0.id == place.era }) else { return false }
    let end = index + 1 < all.count ? all[index + 1].first : nil
    return end.map { place.newest.ordinal < $0 } ?? true
  }

  /// Where the present history begins that replaced the lost one of `place`. Every position that
  /// the restored copy knew lies below it.
  ///
  /// If the copy knew the life of `place`, that life was the copy's last one, and the restore began
  /// the next. If the copy did not know it, that life began after the copy was made. Its positions
  /// then lie above the restore, in a life that began with the restore or later.
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
  /// The feed's head when a catch-up of several pages began; nil: the client is caught up, and
  /// knows exactly what the feed held at `position`.
  package var scanHead: Position?
  /// Where that catch-up began: zero for a scan without a token. Valid only with `scanHead`.
  package var base: Position
  /// The feed's head when the catch-up's last page was read. Entries beyond that page may have
  /// moved up to it, so a history that ends below it is not the one that was read. Valid only with
  /// `scanHead`.
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

  /// Deleted entries up to here are not shown, because a scan without a token has seen none of
  /// them. Stores may skip these entries unread.
  package var goneHidden: Position { base == .zero ? scanHead ?? .zero : .zero }
}
