/// What became of one subscription.
public struct SubscriptionResult: Hashable, Sendable {
  /// The subscription's id.
  public let id: String
  /// Why the relay did not save or remove it; nil if it did.
  public let error: RelayError?
}
