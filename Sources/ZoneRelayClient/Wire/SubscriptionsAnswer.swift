/// The answer to `subscriptions/modify`: an item for each operation, in the order asked.
struct SubscriptionsAnswer: Decodable {
  private var subscriptions: [ErrorAnswer]

  /// - Returns: nil if the answer does not have an item for each operation.
  func results(of changes: [SubscriptionChange]) -> [SubscriptionResult]? {
    guard subscriptions.count == changes.count else { return nil }
    return zip(changes, subscriptions).map { change, item in
      // The subscription that the app wants to remove is gone.
      if change.saved == nil, item.serverErrorCode == "NOT_FOUND" {
        return SubscriptionResult(id: change.id, error: nil)
      }
      return SubscriptionResult(id: change.id, error: item.error(of: "subscription \(change.id)"))
    }
  }
}
