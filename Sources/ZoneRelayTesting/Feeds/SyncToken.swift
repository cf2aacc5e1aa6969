internal import ZoneRelayClient

/// A place in one feed of one user, as the client holds it.
struct SyncToken {
  /// The feed and its reader, such as `zone _alice Notes of _bob`.
  private let feed: String
  let era: Int
  let cursor: FeedCursor

  init(feed: String, era: Int, cursor: FeedCursor) {
    (self.feed, self.era, self.cursor) = (feed, era, cursor)
  }

  var text: String {
    "\(era)~\(cursor.position)~\(cursor.base)~\(cursor.head.map { "\($0)" } ?? "-")~\(feed)"
  }

  /// - Throws: CloudKit's two texts for a token that is garbled or of another feed.
  init(_ text: String, of feed: String) throws(Answer) {
    let parts = text.split(separator: "~", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5, let era = Int(parts[0]), let position = Int(parts[1]),
      let base = Int(parts[2])
    else { throw Answer(status: 400, code: "BAD_REQUEST", reason: "Invalid continuation format") }
    guard parts[4] == feed else {
      throw Answer(status: 400, code: "BAD_REQUEST", reason: "Unknown sync continuation type")
    }
    self.init(
      feed: feed, era: era,
      cursor: FeedCursor(position: position, base: base, head: Int(parts[3])))
  }
}

/// How far a reader has come in a feed.
struct FeedCursor {
  /// The next page begins after this place.
  var position: Int
  /// Where the reader's catch-up began, before its first page; 0 without a token.
  var base: Int
  /// The feed's newest place when the catch-up began; nil after its last page.
  var head: Int?

  static let start = FeedCursor(position: 0, base: 0)

  /// The reader's place after a page.
  ///
  /// - Parameter end: the page's end.
  func next(_ end: Int, isLast: Bool) -> FeedCursor {
    isLast
      ? FeedCursor(position: end, base: end) : FeedCursor(position: end, base: base, head: head)
  }
}
