/// One page of a feed, in order of position.
package struct Page: Hashable, Sendable {
  /// May be none while there is more: all that was looked at is hidden from the reader.
  package var entries: [Entry]
  /// The place to go on from. Of a complete page: the feed's head.
  package var next: FeedCursor
  /// True means that the next page strictly advances (P2).
  package var hasMore: Bool
  /// Where the reader's catch-up began: reasons and ownership are computed at it.
  package var since: Position
  /// Changes of the zone are missing, as its producer's numbers tell.
  package var hasGap: Bool
  /// Database feeds only: for each entry, the place at the head of that zone's own feed.
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

/// The three answers there are, and one for what the reader may not know of.
package enum PageAnswer: Hashable, Sendable {
  case page(Page)
  /// The token's history is gone: the reader starts anew.
  case expired(Expiry)
  /// No such feed, deleted, or not this reader's: one answer, so that nothing is told (P9).
  case absent
}

package enum Expiry: Hashable, Sendable {
  /// Trimmed below the floor, or forced.
  case trimmed
  /// A life this store never had, or a place past its life's end: a restore from a copy. The
  /// history that took the lost one's place begins at `since`.
  case lostHistory(since: Position)

  /// What the relay must know of it.
  package func fact(of feed: FeedKey) -> Fact? {
    guard case .lostHistory(let since) = self else { return nil }
    return .lostHistory(feed, since: since)
  }
}

/// What a reader asks of a feed.
package struct PageQuery: Hashable, Sendable {
  package var feed: FeedKey
  /// Who asks; entitlement is checked in the read's own snapshot.
  package var reader: UserID
  /// Nil: from the start.
  package var after: FeedCursor?
  package var limit: Int
  /// So many entries are looked at for one page, shown or hidden. A reader who was away while very
  /// much came and went must not hold up the others: the next page goes on where this one ends.
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

/// A feed as a store holds it, beside its entries.
package struct FeedState: Hashable, Sendable {
  /// Position of its newest entry ever; survives trimming.
  package var head: Position
  /// Tokens below it have expired.
  package var floor: Position
  /// What lies at or below it is invisible, whatever rows still stand there.
  package var cleared: Position
  /// Zone feeds only: its pages say that changes are missing.
  package var hasGap: Bool

  package init(
    head: Position = .zero, floor: Position = .zero, cleared: Position = .zero,
    hasGap: Bool = false
  ) {
    self.head = head
    self.floor = floor
    self.cleared = cleared
    self.hasGap = hasGap
  }

  /// Where a caught-up reader stands: the head, or the floor if that was raised above it.
  package var top: Position { max(head, floor, cleared) }
}

extension Page {
  /// The reference reading of a feed, which every store must agree with.
  ///
  /// - Parameter floor: the reader's own floor if higher than the feed's (a regrant raises it).
  package static func read(
    _ entries: [Entry], of feed: FeedState, eras: Eras, after place: FeedCursor?, limit: Int,
    looks: Int = PageQuery.looksMax, floor: Position = .zero
  ) -> PageAnswer {
    switch start(of: feed, eras: eras, after: place, floor: floor) {
    case .failure(let expiry): return .expired(expiry.why)
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

  /// Where a reading begins, or why it cannot. Its `base` and `scanHead` are those of the whole
  /// catch-up: what an earlier page's reader holds is not exact until the last page.
  package static func start(
    of feed: FeedState, eras: Eras, after place: FeedCursor?, floor: Position
  ) -> Result<FeedCursor, Expired> {
    // A regrant may raise the reader's floor above all that the feed holds.
    let top = max(feed.top, floor)
    guard let place else {
      return .success(FeedCursor(era: 0, position: .zero, scanHead: top))
    }
    guard eras.contain(place), place.newest <= top else {
      return .failure(Expired(why: .lostHistory(since: eras.beginning(insteadOf: place))))
    }
    let reached = max(place.position, place.goneHidden)
    guard reached >= max(floor, feed.floor) else { return .failure(Expired(why: .trimmed)) }
    guard place.scanHead == nil else { return .success(place) }
    // A token of an empty feed knows that the feed was empty; no token knows nothing.
    let base = max(place.position, .origin)
    return .success(
      FeedCursor(era: place.era, position: place.position, scanHead: top, base: base))
  }

  package struct Expired: Error, Hashable { package var why: Expiry }

  /// Cuts a page out of `ahead`: entries after `start`, in order of position, without the gone ones
  /// up to its `goneHidden`. It may be given more than a page's worth; `looks` + 1 are enough, or
  /// `limit` + 1 visible ones and what is hidden between.
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
    // The life of the newest place it depends on: an older one may have ended below it.
    next.era = eras.of(next.newest.ordinal)?.id ?? 0
    return Page(
      entries: shown, next: next, hasMore: hasMore, since: start.base, hasGap: feed.hasGap)
  }
}
