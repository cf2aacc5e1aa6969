/// One attempt of one wake, ready for a provider. The adapter derives headers from `intent`, so an
/// illegal combination of push type and priority cannot be built.
package struct Push: Hashable, Sendable {
  /// The same id for all attempts of a wake.
  package var id: Identifier
  package var address: Address
  package var intent: Intent
  /// The wake's deadline, after which the provider drops the push.
  package var expires: Instant
  /// The collapse id, of at most 64 bytes: the push replaces an earlier push with the same id.
  /// `nil` means that the push replaces no earlier push.
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
