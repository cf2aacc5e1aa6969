import RelayCore

/// A request that its sender repeats with the same ids until it is answered.
struct Operation {
  var facts: [Fact]
  var client: Int?
  var isAnswered = false
}

extension Fact {
  /// A user's request that changes the subscriptions of one database.
  static func subscriptions(
    _ operation: SubscriptionsRequest.Operation, of user: UserID, in database: Database
  ) -> Fact {
    .modify(
      SubscriptionsRequest(
        scope: World.scope, user: user, database: database, operations: [operation]))
  }
}

extension Subscription {
  /// A subscription whose pushes show nothing and run the app.
  init(silent name: String, _ database: Database, _ rule: Rule) {
    var info = NotificationInfo()
    info.isContentAvailable = true
    self.init(id: SubscriptionID(name), database: database, rule: rule, info: info)
  }
}
