internal import ZoneRelayClient

/// A place in one feed of one user, as the client holds it.
struct SyncToken {
  /// The feed and its reader, such as `zone _alice Notes of _bob`.
  private let feed: String
  let era: Int
  let position: Int

  init(feed: String, era: Int, position: Int) {
    (self.feed, self.era, self.position) = (feed, era, position)
  }

  var text: String { "\(era)~\(position)~\(feed)" }

  /// - Throws: CloudKit's two texts for a token that is garbled or of another feed.
  init(_ text: String, of feed: String) throws(Answer) {
    let parts = text.split(separator: "~", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let era = Int(parts[0]), let position = Int(parts[1]) else {
      throw Answer(status: 400, code: "BAD_REQUEST", reason: "Invalid continuation format")
    }
    guard parts[2] == feed else {
      throw Answer(status: 400, code: "BAD_REQUEST", reason: "Unknown sync continuation type")
    }
    self.init(feed: feed, era: era, position: position)
  }
}
