import RelayCore
import RelayEngine

/// Metrics of the feedback for the apps' own servers, and of its webhooks.
extension MetricsText {
  mutating func feedback(_ health: HealthSnapshot) {
    many(
      "feedback_items_total", .counter, "Items for the apps' own servers, by what they tell.",
      health.feedback.flatMap { counts in
        [("retired", counts.retired), ("silent", counts.silent), ("returned", counts.returned)]
          .map { ("\(Self.labels(counts.scope)),reason=\"\($0.0)\"", Double($0.1)) }
      })
    let hooks = health.webhooks.map { (Self.labels($0.scope), $0) }
    many(
      "webhook_items_taken_total", .counter, "Items that a webhook's server has taken.",
      hooks.map { ($0.0, Double($0.1.sent)) })
    many(
      "webhook_failures_total", .counter, "Deliveries that a webhook's server did not take.",
      hooks.map { ($0.0, Double($0.1.failed)) })
    many(
      "webhook_oldest_age_seconds", .gauge, "Age of the oldest item that waits for its server.",
      hooks.map { ($0.0, $0.1.oldestAge) })
    many(
      "webhooks_stopped", .gauge, "1 where the server wants no more.",
      hooks.map { ($0.0, $0.1.state == .stopped ? 1 : 0) })
  }

  private static func labels(_ scope: Scope) -> String {
    "container=\"\(escaped(scope.container))\",environment=\"\(scope.environment.name)\""
  }
}
