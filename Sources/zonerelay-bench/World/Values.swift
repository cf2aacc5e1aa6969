import RelayCore

extension Scope {
  /// The scope of all measurements.
  static let measured = Scope(container: MeasuredDaemon.container, environment: .development)
}

extension Subscription {
  /// A subscription whose pushes show nothing and run the app.
  init(silent name: String, _ database: Database, _ rule: Rule) {
    var info = NotificationInfo()
    info.isContentAvailable = true
    self.init(id: SubscriptionID(name), database: database, rule: rule, info: info)
  }
}
