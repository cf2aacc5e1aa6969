/// Subscriptions that the relay cannot save yet, because the user has as many as the relay allows.
/// Such a subscription is not sent again before its time, however often the app asks.
struct SubscriptionWaits {
  private var refusals: [Subscription: (until: Duration, message: String)] = [:]

  /// - Returns: the result of a change that must wait; nil if it may be sent.
  func result(of change: SubscriptionChange, at now: Duration) -> SubscriptionResult? {
    guard let saved = change.saved, let refusal = refusals[saved], refusal.until > now else {
      return nil
    }
    let error = RelayError(.busy, refusal.message, retryAfter: refusal.until - now)
    return SubscriptionResult(id: change.id, error: error)
  }

  /// The relay has answered a change: notes how long this change must wait, if the relay asks for a
  /// wait.
  mutating func take(_ result: SubscriptionResult, of change: SubscriptionChange, at now: Duration)
  {
    if let saved = change.saved {
      refusals[saved] = result.error.flatMap { error in
        error.retryAfter.map { (now + $0, error.message) }
      }
    } else {
      // After a subscription was removed, there may be room for another one.
      refusals = [:]
    }
  }
}
