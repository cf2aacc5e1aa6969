/// How far a reader has come in a feed.
struct FeedCursor {
  /// The next page begins after this place.
  var position: Int
  /// Where the reader's catch-up began, before its first page; 0 without a token.
  var base: Int
  /// The feed's newest place when the catch-up began; nil after the last page of the catch-up.
  var head: Int?

  static let start = FeedCursor(position: 0, base: 0)

  /// The reader's place after a page.
  ///
  /// - Parameter end: the page's end.
  func next(_ end: Int, isLast: Bool) -> FeedCursor {
    isLast
      ? FeedCursor(position: end, base: end) : FeedCursor(position: end, base: base, head: head)
  }

  /// The place as a token of the feed.
  ///
  /// - Parameter feed: the feed and its reader, such as `zone _alice Notes of _bob`.
  func token(of feed: String, era: Int) -> String {
    "\(era)~\(position)~\(base)~\(head.map { "\($0)" } ?? "-")~\(feed)"
  }

  /// - Throws: an error with CloudKit's text: one text if the token is garbled, another text if the
  ///   token belongs to another feed.
  static func read(
    _ token: String, of feed: String
  ) throws(Answer) -> (era: Int, cursor: FeedCursor) {
    let parts = token.split(separator: "~", maxSplits: 4, omittingEmptySubsequences: false)
    guard parts.count == 5, let era = Int(parts[0]), let position = Int(parts[1]),
      let base = Int(parts[2])
    else { throw Answer.badRequest("Invalid continuation format") }
    guard parts[4] == feed else { throw Answer.badRequest("Unknown sync continuation type") }
    return (era, FeedCursor(position: position, base: base, head: Int(parts[3])))
  }
}
