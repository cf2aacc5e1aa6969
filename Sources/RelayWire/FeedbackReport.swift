/// The answer to `GET /feedback` on the control socket.
package struct FeedbackReport: Codable, Hashable, Sendable {
  /// The items of this page, sorted by position.
  package var items: [FeedbackItem]
  /// The last position in this answer. The client asks for the items after this position next.
  package var next: UInt64
  package var moreComing: Bool
  /// Items up to this position were trimmed before the client fetched them; absent if the client
  /// has missed no item.
  package var missedThrough: UInt64?

  package init(items: [FeedbackItem], next: UInt64, moreComing: Bool, missedThrough: UInt64?) {
    self.items = items
    self.next = next
    self.moreComing = moreComing
    self.missedThrough = missedThrough
  }
}

/// One item of feedback about a device, for the app's own servers. An item has the same form in the
/// feed and in a webhook's body. Times are milliseconds since 1970.
package struct FeedbackItem: Codable, Hashable, Sendable {
  /// The item's position: higher than that of each earlier item, of whichever environment.
  package var position: UInt64
  /// A UUID, which is the same each time the item is sent.
  package var id: String
  /// The kind of the item: `retired`, `silent` or `returned`.
  package var type: String
  /// When the reported event happened.
  package var at: Int64
  package var container: String
  package var environment: String
  package var user: String
  package var clientId: String
  package var transport: String
  package var topic: String
  /// The first eight hexadecimal digits of the push token's SHA-256, as operators see them; empty
  /// for a device without a token.
  package var tokenDigest: String
  /// When the address that this item is about was registered.
  package var registeredAt: Int64
  /// For `retired`: the provider's reason; `displaced` if another device registered the token; or
  /// `lapsed` if only the courier reached the device and its address there has lapsed.
  package var reason: String?
  /// For `retired`: since when the provider has known that the token is dead, if it reports this.
  package var providerTime: Int64?
  /// For `silent`: when the first unanswered wake was delivered. `wakes` is the number of wakes
  /// since then.
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
  /// Always `zonerelay.feedback`.
  package var type = "zonerelay.feedback"
  package var container: String
  package var environment: String
  /// At least one item, sorted by position.
  package var items: [FeedbackItem]
  /// Items up to this position were trimmed before they could be delivered; absent if none was.
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
