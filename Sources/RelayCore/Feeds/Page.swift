/// One page of a feed, in order of position.
package struct Page: Hashable, Sendable {
  /// The entries to show. The list may be empty although `hasMore` is true, if all examined entries
  /// are hidden from the reader.
  package var entries: [Entry]
  /// The cursor of the next page. For the last page it is the feed's head.
  package var next: FeedCursor
  /// Whether there is a next page. The next page always begins at a later position (P2).
  package var hasMore: Bool
  /// Where the reader's catch-up began. The reason of each entry, and whether the reader's own
  /// device made the entry's changes, are computed relative to this position.
  package var since: Position
  /// Whether changes of the zone are missing, according to the numbers of the zone's producer.
  package var hasGap: Bool
  /// Database feeds only: for each entry, the cursor at the head of the feed of the entry's zone.
  package var zoneHeads: [FeedCursor]

  package init(
    entries: [Entry], next: FeedCursor, hasMore: Bool, since: Position, hasGap: Bool = false,
    zoneHeads: [FeedCursor] = []
  ) {
    self.entries = entries
    self.next = next
    self.hasMore = hasMore
    self.since = since
    self.hasGap = hasGap
    self.zoneHeads = zoneHeads
  }
}

/// The answer to a page query.
package enum PageAnswer: Hashable, Sendable {
  case page(Page)
  /// The token's history is gone, so the reader must start anew.
  case expired(Expiry)
  /// The feed does not exist, is deleted, or is not this reader's. All three cases have the same
  /// answer, so that the answer discloses nothing (P9).
  case absent
}

package enum Expiry: Error, Hashable, Sendable {
  /// The token is below the floor, or an operator expired it.
  case trimmed
  /// The token names an era that this store never had, or a position after the end of its era, so
  /// the store was restored from a copy. The history that replaced the lost history begins at
  /// `since`.
  case lostHistory(since: Position)

  /// The fact that records this expiry in the journal; `nil` if the expiry needs no record.
  package func fact(of feed: FeedKey) -> Fact? {
    guard case .lostHistory(let since) = self else { return nil }
    return .lostHistory(feed, since: since)
  }
}

/// A reader's query for one page of a feed.
package struct PageQuery: Hashable, Sendable {
  package var feed: FeedKey
  /// The user that reads. Entitlement is checked in the same snapshot as the read.
  package var reader: UserID
  /// Where the reader continues; `nil` means at the start of the feed.
  package var after: FeedCursor?
  package var limit: Int
  /// How many entries are examined for one page, shown or hidden. A reader that returns after very
  /// many changes must not delay other readers; the next page continues where this page ends.
  package var looks: Int

  package init(
    feed: FeedKey, reader: UserID, after: FeedCursor?, limit: Int, looks: Int = PageQuery.looksMax
  ) {
    self.feed = feed
    self.reader = reader
    self.after = after
    self.limit = limit
    self.looks = looks
  }

  package static let looksMax = 2_000
}

/// A feed's state in a store, without its entries.
package struct FeedState: Hashable, Sendable {
  /// The position of the feed's newest entry ever. A trim does not change it.
  package var head: Position
  /// Tokens below this position have expired.
  package var floor: Position
  /// Rows at or below this position are invisible, even if the store still has them.
  package var cleared: Position
  /// Whether pages state that changes are missing; only for zone feeds.
  package var hasGap: Bool

  package init(
    head: Position = .zero, floor: Position = .zero, cleared: Position = .zero,
    hasGap: Bool = false
  ) {
    (self.head, self.floor, self.cleared, self.hasGap) = (head, floor, cleared, hasGap)
  }

  /// The position of a caught-up reader: the greatest of `head`, `floor` and `cleared`.
  package var top: Position { max(head, floor, cleared) }
}

extension Page {
  /// The reference implementation of a read. Every store must give the same result.
  ///
  /// - Parameter floor: the reader's own floor, which counts if it is above the feed's floor. The
  ///   relay sets the reader's floor when the zone is shared with the reader.
  package static func read(
    _ entries: [Entry], of feed: FeedState, eras: Eras, after place: FeedCursor?, limit: Int,
    looks: Int = PageQuery.looksMax, floor: Position = .zero
  ) -> PageAnswer {
    switch start(of: feed, eras: eras, after: place, floor: floor) {
    case .failure(let expiry): return .expired(expiry)
    case .success(let start):
      let after = max(start.position, feed.cleared)
      let ahead =
        entries
        .filter {
          $0.life.position > ($0.life.isPresent ? after : max(after, start.goneHidden))
        }
        .sorted { $0.life.position < $1.life.position }
      return .page(
        page(of: ahead, feed: feed, eras: eras, start: start, limit: limit, looks: looks))
    }
  }

  /// Where a reading begins, or why it cannot begin. The returned `base` and `scanHead` belong to
  /// the whole catch-up, because the client has the exact state of the feed only after the last
  /// page.
  package static func start(
    of feed: FeedState, eras: Eras, after place: FeedCursor?, floor: Position
  ) -> Result<FeedCursor, Expiry> {
    // When a zone is shared with a reader, the reader's floor may be above everything in the feed.
    let top = max(feed.top, floor)
    guard let place else {
      return .success(FeedCursor(era: 0, position: .zero, scanHead: top))
    }
    guard eras.contain(place), place.newest <= top else {
      return .failure(.lostHistory(since: eras.beginning(insteadOf: place)))
    }
    let reached = max(place.position, place.goneHidden)
    guard reached >= max(floor, feed.floor) else { return .failure(.trimmed) }
    guard place.scanHead == nil else { return .success(place) }
    // A token of an empty feed proves that the client has read the feed as empty. A client without
    // a token has read nothing.
    let base = max(place.position, .origin)
    return .success(
      FeedCursor(era: place.era, position: place.position, scanHead: top, base: base))
  }

  /// Takes one page out of `ahead`, which holds the entries after `start` in order of position,
  /// without deleted entries up to `start.goneHidden`. `ahead` may exceed one page; `looks` + 1
  /// entries suffice, or `limit` + 1 visible entries with the hidden entries between them.
  package static func page(
    of ahead: [Entry], feed: FeedState, eras: Eras, start: FeedCursor, limit: Int, looks: Int
  ) -> Page {
    var shown: [Entry] = []
    var last = start.position
    var hasMore = false
    for (index, entry) in ahead.enumerated() {
      let isHidden = entry.life.isHidden(from: start)
      if index == looks || (shown.count == limit && !isHidden) {
        hasMore = true
        break
      }
      if !isHidden { shown.append(entry) }
      last = entry.life.position
    }
    let end = hasMore ? last : max(feed.top, start.position, start.scanHead ?? .zero)
    var next = FeedCursor(era: 0, position: end)
    if hasMore { (next.scanHead, next.base, next.seen) = (start.scanHead, start.base, feed.top) }
    // The era of the newest position that the cursor depends on. An older era may have ended below
    // that position.
    next.era = eras.of(next.newest.ordinal)?.id ?? 0
    return Page(
      entries: shown, next: next, hasMore: hasMore, since: start.base, hasGap: feed.hasGap)
  }
}
