/// A life of a partition's history: written whenever a relay takes the partition up, so that a
/// token names the history it was given by (P10).
package struct Era: Hashable, Sendable {
  /// Random, drawn outside the core.
  package var id: UInt64
  /// The first ordinal this life may have given.
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

  /// The life in which an ordinal was given. Equal places give equal eras, so tokens of a feed at
  /// rest are equal bytes.
  package func of(_ ordinal: Ordinal) -> Era? {
    all.last { $0.first <= ordinal } ?? all.first
  }

  /// Whether `place` is of a life that this store had, and lies within it.
  package func contain(_ place: FeedCursor) -> Bool {
    guard let index = all.firstIndex(where: { $0.id == place.era }) else { return false }
    let end = index + 1 < all.count ? all[index + 1].first : nil
    return end.map { place.newest.ordinal < $0 } ?? true
  }

  /// Where the history begins that took the place of a lost one, in which `place` was read. Every
  /// place that the copy knew lies below it.
  ///
  /// A life that the copy knew was its last one, and a restore began the next. A life that it did
  /// not know began after the copy, so its places lie above the restore: the life that covers them
  /// began with the restore, or later.
  package func beginning(insteadOf place: FeedCursor) -> Position {
    guard let index = all.firstIndex(where: { $0.id == place.era }) else {
      return of(place.newest.ordinal).map { Position($0.first) } ?? .zero
    }
    return Position(all[min(index + 1, all.count - 1)].first)
  }

  package func knows(_ id: UInt64) -> Bool { all.contains { $0.id == id } }
}

/// What a change token says once its seal is checked: where its holder has read to.
package struct FeedCursor: Hashable, Sendable {
  package var era: UInt64
  package var position: Position
  /// The feed's head when a catch-up of several pages began; nil: the holder is caught up, and
  /// knows exactly what the feed held at `position`.
  package var scanHead: Position?
  /// Where that catch-up began: zero for a scan without a token. Counts only with `scanHead`.
  package var base: Position
  /// The feed's head when its last page was read: what that page left out may have moved up to
  /// there, so a history that ends below it is not the one that was read. Counts only with
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

  /// The newest of the places it depends on.
  package var newest: Position { max(position, scanHead ?? .zero, seen) }

  /// Nothing that is gone, up to here, is shown: a scan without a token knows of none of it.
  /// Stores may skip it unread.
  package var goneHidden: Position { base == .zero ? scanHead ?? .zero : .zero }
}
