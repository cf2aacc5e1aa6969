/// `changes/database`: which zones changed. The answer to an expired token has the same members.
struct DatabaseAnswer: Decodable {
  var zones: [Zone]?
  var syncToken: String
  var moreComing: Bool?
  var digestToken: String?

  struct Zone: Decodable {
    var zoneID: ZoneID
    var syncToken: String?
    var deleted: Bool?
    var purged: Bool?
    var reset: Bool?

    /// Why the zone is gone; nil if it exists.
    var loss: ZoneLoss? {
      guard deleted == true else { return nil }
      if purged == true { return .purged }
      return reset == true ? .reset : .deleted
    }
  }
}

/// Asks for what comes after a token of a database or of the notifications.
struct FeedQuestion: Encodable {
  var syncToken: String?
  var digestToken: String?
}
