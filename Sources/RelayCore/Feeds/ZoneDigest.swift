/// A zone that a reader may see, and the head of the zone's own feed.
package struct ZoneDigest: Hashable, Sendable {
  package var zone: ZoneID
  package var head: FeedCursor

  package init(zone: ZoneID, head: FeedCursor) {
    self.zone = zone
    self.head = head
  }
}
