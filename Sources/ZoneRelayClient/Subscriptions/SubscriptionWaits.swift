/// Subscriptions that the relay cannot save yet, because the user has all that the relay allows.
/// None is sent again before its time, however often the app asks.
struct SubscriptionWaits {
  private var refusals: [Subscription: (until: Duration, message: String)] = [:]

  /// - Returns: the result of a change that must wait; nil if it may be sent.
  func result(of change: SubscriptionChange, at now: Duration) -> SubscriptionResult? {
    guard case .save(let subscription) = change, let refusal = refusals[subscription],
      refusal.until > now
    else { return nil }
    let error = RelayError(.busy, refusal.message, retryAfter: refusal.until - now)
    return SubscriptionResult(id: change.id, error: error)
  }

  /// The relay has answered.
  mutating func take(_ result: SubscriptionResult, of change: SubscriptionChange, at now: Duration)
  {
    switch change {
    case .save(let subscription):
      refusals[subscription] = result.error.flatMap { error in
        error.retryAfter.map { (now + $0, error.message) }
      }
    // Where one is removed, there may be room for another.
    case .delete: refusals = [:]
    }
  }
}
