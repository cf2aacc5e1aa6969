internal import ZoneRelayClient

/// A zone with its records.
struct ZoneFeed {
  struct Record {
    var entry = FeedEntry()
    var type: String?
    var tag: String?
    var modified = 0
  }

  var records: [String: Record] = [:]
  var participants: Set<String> = []
  /// Why the zone is gone; nil if it exists.
  var loss: ZoneLoss?
  /// Tokens from before this place have expired, because the zone's records were removed then.
  var cleared = 0
  var hasGap = false

  /// The place of the last change.
  var head: Int { max(cleared, records.values.map(\.entry.position).max() ?? 0) }

  mutating func end(_ loss: ZoneLoss, at position: Int) {
    self = ZoneFeed(loss: loss, cleared: position)
  }
}
