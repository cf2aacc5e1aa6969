/// One attempt of one wake, ready for a provider. Headers follow from `intent`, so an illegal
/// combination of push type and priority cannot be built.
package struct Push: Hashable, Sendable {
  /// Fixed for a wake: every attempt of it carries the same.
  package var id: Identifier
  package var address: Address
  package var intent: Intent
  /// The wake's deadline; the provider drops it afterwards.
  package var expires: Instant
  /// At most 64 bytes; nil where nothing is to be replaced.
  package var collapse: String?
  /// JSON, at most `Limits.payloadBytes`.
  package var payload: [UInt8]

  package init(
    id: Identifier, address: Address, intent: Intent, expires: Instant, collapse: String?,
    payload: [UInt8]
  ) {
    self.id = id
    self.address = address
    self.intent = intent
    self.expires = expires
    self.collapse = collapse
    self.payload = payload
  }

  package enum Intent: Hashable, Sendable {
    /// Silent: `background`, priority 5.
    case background
    /// Alert, badge or sound: `alert`, priority 10.
    case alert
  }
}
