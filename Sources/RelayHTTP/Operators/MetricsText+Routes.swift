import RelayCore
import RelayEngine

extension MetricsText {
  private struct RouteSum {
    var inFlight = 0
    var sent: Int64 = 0
    var delivered: Int64 = 0
    var stopped = 0
    /// The number of routes that retire no device, because too many tokens are reported as dead.
    var doubted = 0
    var sender = SenderHealth()
  }

  /// Writes the metrics of routes. Routes that differ only in their topic are added up.
  mutating func routes(_ health: HealthSnapshot) {
    var order: [String] = []
    var sums: [String: RouteSum] = [:]
    for route in health.routes {
      let label =
        "container=\"\(Self.escaped(route.key.scope.container))\","
        + "environment=\"\(route.key.scope.environment.name)\","
        + "transport=\"\(route.key.transport.name)\""
      if sums[label] == nil { order.append(label) }
      var sum = sums[label] ?? RouteSum()
      sum.inFlight += route.inFlight
      sum.sent += route.sent
      sum.delivered += route.delivered
      sum.stopped += route.circuit == "closed" ? 0 : 1
      sum.doubted += route.pruningStop == nil ? 0 : 1
      sum.sender.connections += route.sender.connections
      sum.sender.waiting += route.sender.waiting
      sum.sender.opened += route.sender.opened
      sum.sender.resent += route.sender.resent
      sum.sender.unanswered += route.sender.unanswered
      sum.sender.unknownAnswers += route.sender.unknownAnswers
      sums[label] = sum
    }
    let all = order.map { ($0, sums[$0] ?? RouteSum()) }
    many(
      "pushes_in_flight", .gauge, "Pushes whose answer is awaited.",
      all.map { ($0.0, Double($0.1.inFlight)) })
    many(
      "pushes_sent_total", .counter, "Pushes handed to the provider.",
      all.map { ($0.0, Double($0.1.sent)) })
    many(
      "pushes_delivered_total", .counter, "Pushes that the provider took.",
      all.map { ($0.0, Double($0.1.delivered)) })
    many(
      "routes_stopped", .gauge, "Routes whose circuit is not closed.",
      all.map { ($0.0, Double($0.1.stopped)) })
    many(
      "routes_retiring_stopped", .gauge,
      "Routes that retire no device, because too many are called dead.",
      all.map { ($0.0, Double($0.1.doubted)) })
    senders(all)
  }

  private mutating func senders(_ all: [(String, RouteSum)]) {
    let values: [(String, Kind, String, (SenderHealth) -> Double)] = [
      ("provider_connections", .gauge, "Connections to providers.", { Double($0.connections) }),
      (
        "provider_connections_opened_total", .counter, "Connections opened to providers.",
        { Double($0.opened) }
      ),
      (
        "pushes_waiting", .gauge, "Pushes that wait for a connection or a stream.",
        { Double($0.waiting) }
      ),
      (
        "pushes_resent_total", .counter, "Pushes sent again that were certainly not processed.",
        { Double($0.resent) }
      ),
      (
        "pushes_unanswered_total", .counter, "Pushes that ended without an answer.",
        { Double($0.unanswered) }
      ),
      (
        "pushes_unknown_answers_total", .counter, "Answers that no list of ours knows; retried.",
        { Double($0.unknownAnswers) }
      ),
    ]
    for (name, kind, help, value) in values {
      many(name, kind, help, all.map { ($0.0, value($0.1.sender)) })
    }
  }
}
