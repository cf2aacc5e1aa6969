/// Whether the relay saved or removed one subscription.
public struct SubscriptionResult: Hashable, Sendable {
  /// The subscription's id.
  public let id: String
  /// Why the relay did not save or remove the subscription; nil if it did.
  ///
  /// With ``RelayError/Code/busy``, ``RelayError/retryAfter`` is how long the relay asks to wait
  /// before this subscription is saved again. Until then ``ZoneRelayClient/prepare(_:)`` gives this
  /// error again without a request. Other subscriptions and calls do not wait.
  public let error: RelayError?
}
