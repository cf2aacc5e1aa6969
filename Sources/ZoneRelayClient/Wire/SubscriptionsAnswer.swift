/// The answer to `subscriptions/modify`: an item for each operation, in the order asked.
struct SubscriptionsAnswer: Decodable {
  private var subscriptions: [Item]

  private struct Item: Decodable {
    var serverErrorCode: String?
    var reason: String?
  }

  /// - Returns: nil if the answer does not have an item for each operation.
  func results(of changes: [SubscriptionChange]) -> [SubscriptionResult]? {
    guard subscriptions.count == changes.count else { return nil }
    return zip(changes, subscriptions).map { change, item in
      SubscriptionResult(id: change.id, error: Self.error(item, change))
    }
  }

  private static func error(_ item: Item, _ change: SubscriptionChange) -> RelayError? {
    guard let code = item.serverErrorCode else { return nil }
    // The subscription that the app wants to remove is gone.
    if case .delete = change, code == "NOT_FOUND" { return nil }
    return RelayError(
      ErrorAnswer.meaning(of: code), "subscription \(change.id): \(code): \(item.reason ?? "")")
  }
}
