/// What `GET /feedback` answers on the control socket.
package struct FeedbackReport: Codable, Hashable, Sendable {
  /// In the order of their positions.
  package var items: [FeedbackItem]
  /// Where to go on: the last position shown.
  package var next: UInt64
  package var moreComing: Bool
  /// Items up to here were trimmed before the reader came for them; absent: it missed nothing.
  package var missedThrough: UInt64?

  package init(items: [FeedbackItem], next: UInt64, moreComing: Bool, missedThrough: UInt64?) {
    self.items = items
    self.next = next
    self.moreComing = moreComing
    self.missedThrough = missedThrough
  }
}

/// One thing that the app's own servers should know of a device. The same in the feed and in a
/// webhook's body. Instants are milliseconds since 1970.
package struct FeedbackItem: Codable, Hashable, Sendable {
  /// Rises from item to item, whichever environment it is of.
  package var position: UInt64
  /// A UUID: equal whenever the item is told again.
  package var id: String
  /// `retired`, `silent` or `returned`.
  package var type: String
  /// When it came about.
  package var at: Int64
  package var container: String
  package var environment: String
  package var user: String
  package var clientId: String
  package var transport: String
  package var topic: String
  /// First eight hexadecimal digits of the push token's SHA-256, as operators see it; empty for a
  /// device without one.
  package var tokenDigest: String
  /// When the address was registered that this is about.
  package var registeredAt: Int64
  /// Of `retired`: the provider's word, or `displaced`: another device registered the token.
  package var reason: String?
  /// Of `retired`: since when the provider knows, if it told.
  package var providerTime: Int64?
  /// Of `silent`: when the first wake was delivered that it did not answer, and how many since.
  package var silentSince: Int64?
  package var wakes: Int?

  package init(
    position: UInt64, id: String, type: String, at: Int64, container: String, environment: String,
    user: String, clientId: String, transport: String, topic: String, tokenDigest: String,
    registeredAt: Int64
  ) {
    self.position = position
    self.id = id
    self.type = type
    self.at = at
    self.container = container
    self.environment = environment
    self.user = user
    self.clientId = clientId
    self.transport = transport
    self.topic = topic
    self.tokenDigest = tokenDigest
    self.registeredAt = registeredAt
  }
}

/// The body of one delivery to a webhook.
package struct FeedbackDelivery: Codable, Hashable, Sendable {
  /// `zonerelay.feedback`.
  package var type = "zonerelay.feedback"
  package var container: String
  package var environment: String
  /// One at least, in the order of their positions.
  package var items: [FeedbackItem]
  /// Items up to here were trimmed before they could be delivered; absent: none was.
  package var missedThrough: UInt64?

  package init(
    container: String, environment: String, items: [FeedbackItem], missedThrough: UInt64?
  ) {
    self.container = container
    self.environment = environment
    self.items = items
    self.missedThrough = missedThrough
  }
}
