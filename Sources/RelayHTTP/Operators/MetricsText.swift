import OrderedCollections
import RelayCore
import RelayEngine

/// The daemon's state as Prometheus text, in base units. The values of labels come from fixed lists
/// and from the configuration; they never name a token, user or zone.
struct MetricsText {
  private(set) var text = ""

  init(_ health: HealthSnapshot, process: ProcessUsage) {
    gauge("uptime_seconds", "Seconds since start.", health.uptime)
    gauge("ready", "1 once recovery is over and requests are served.", health.isReady ? 1 : 0)
    gauge("healthy", "1 if status names no reason.", health.healthy ? 1 : 0)
    store(health)
    ledger(health.ledger)
    let lanes = health.lanes
    many(
      "lanes", .gauge, "Devices by the state of their lane.",
      Self.reasons([
        ("idle", lanes.idle), ("gathering", lanes.gathering), ("due", lanes.due),
        ("in_flight", lanes.inFlight), ("resting", lanes.resting),
        ("watching", lanes.watching), ("retired", lanes.retired),
      ]))
    routes(health.routes, withdrawn: health.withdrawnRoutes)
    gauge("fanouts_running", "Changes that still have users to reach.", health.fanOuts.running)
    gauge(
      "fanouts_oldest_age_seconds", "Age of the oldest change that still has users to reach.",
      health.fanOuts.oldestAge)
    gauge(
      "smeared_lanes", "Devices that wait for their slot in the smear of a hot change.",
      health.smearing.waiting)
    counter(
      "smears_hurried_total", "Times a smear was too long for its rate, and woke faster.",
      health.smearing.hurried)
    gauge(
      "zones_with_gap", "Zones of which numbered changes are missing for too long.",
      health.zonesWithGap)
    gauge(
      "courier_connections", "Polls and streams open at the courier.", health.courierConnections)
    feedback(health)
    counter(
      "trace_entries_total", "Entries that the flight recorder took.", health.recorder.recorded)
    counter(
      "trace_entries_lost_total", "Entries that the flight recorder dropped or could not write.",
      health.recorder.lost)
    gauge(
      "oldest_pending_age_seconds", "Age of the oldest delivery that waits.",
      health.oldestPendingAge)
    gauge(
      "open_files", "Open descriptors: files, sockets, connections.", process.openFiles)
    gauge("open_files_max", "How many may be open.", process.openFilesMax)
    gauge("api_connections", "Connections at the API's listener.", process.apiConnections)
    gauge("resident_memory_bytes", "Memory in use.", process.residentBytes)
    counter("cpu_seconds_total", "CPU used, user and system.", process.cpuSeconds)
  }

  private mutating func store(_ health: HealthSnapshot) {
    let store = health.store
    gauge("store_bytes", "Size of the store's files.", store.bytes)
    gauge("store_journal_tail_facts", "Facts journalled and not folded.", store.journalTail)
    gauge(
      "store_fold_lag_seconds",
      "Time since the last fold while journalled facts wait for the next, else 0.", store.foldLag)
    counter(
      "store_reads_failed_total", "Reads for devices and operators that failed.",
      store.failedReads)
    counter("folds_total", "Folds that became durable.", store.folds)
    counter("feed_rows_written_total", "Feed entries that folds wrote.", store.feedRows)
    many(
      "changes_total", .counter, "Changes that producers reported, by outcome.",
      [
        ("outcome=\"accepted\"", Double(health.changes.accepted)),
        ("outcome=\"duplicate\"", Double(health.changes.duplicates)),
        ("outcome=\"rejected\"", Double(health.changes.rejected)),
      ])
  }

  private mutating func ledger(_ ledger: Ledger) {
    many(
      "deliveries_entered_total", .counter, "Deliveries that came to be, by origin.",
      Self.reasons([("matched", ledger.matched), ("recovered", ledger.recovered)]))
    many(
      "deliveries_ended_total", .counter, "Deliveries that wait no more, by how they ended.",
      Self.reasons([
        ("own", ledger.own), ("merged", ledger.merged), ("woken", ledger.woken),
        ("fetched", ledger.fetched), ("withdrawn", ledger.withdrawn),
        ("retired", ledger.retired), ("expired", ledger.expired),
      ]))
    gauge("deliveries_pending", "Deliveries that wait.", ledger.pending)
    gauge("ledger_balanced", "1 if entered equals ended and pending.", ledger.isBalanced ? 1 : 0)
  }

  /// Writes the metrics of routes. Routes that differ only in their topic are added up. A counter
  /// must not fall, so the sum of a counter includes routes that a reload has withdrawn.
  private mutating func routes(
    _ routes: [HealthSnapshot.RouteHealth], withdrawn: [HealthSnapshot.RouteHealth]
  ) {
    let (gauged, counted) = (Self.byLabel(routes), Self.byLabel(routes + withdrawn))
    func sum(
      _ name: String, _ kind: Kind, _ help: String,
      _ value: (HealthSnapshot.RouteHealth) -> some BinaryInteger
    ) {
      let samples = (kind == .counter ? counted : gauged).map { label, routes in
        (label, routes.reduce(0) { $0 + Double(value($1)) })
      }
      many(name, kind, help, samples)
    }
    sum("pushes_in_flight", .gauge, "Pushes whose answer is awaited.") { $0.inFlight }
    sum("pushes_sent_total", .counter, "Pushes begun, also those taken back unsent.") { $0.sent }
    sum("pushes_delivered_total", .counter, "Pushes that the provider took.") { $0.delivered }
    sum("routes_stopped", .gauge, "Routes whose circuit is not closed.") {
      $0.circuit == "closed" ? 0 : 1
    }
    sum(
      "routes_retiring_stopped", .gauge,
      "Routes that retire no device, because too many are called dead."
    ) { $0.isPruning ? 0 : 1 }
    sum("provider_connections", .gauge, "Connections to providers.") { $0.sender.connections }
    sum("provider_connections_opened_total", .counter, "Connections opened to providers.") {
      $0.sender.opened
    }
    sum("pushes_waiting", .gauge, "Pushes that wait for a connection or a stream.") {
      $0.sender.waiting
    }
    sum("pushes_resent_total", .counter, "Pushes sent again that were certainly not processed.") {
      $0.sender.resent
    }
    sum("pushes_unanswered_total", .counter, "Pushes that ended without an answer.") {
      $0.sender.unanswered
    }
    sum("pushes_unknown_answers_total", .counter, "Answers that no list of ours knows; retried.") {
      $0.sender.unknownAnswers
    }
  }

  /// The routes of each label, in the order in which the labels first come.
  private static func byLabel(
    _ routes: [HealthSnapshot.RouteHealth]
  ) -> OrderedDictionary<String, [HealthSnapshot.RouteHealth]> {
    OrderedDictionary(grouping: routes) { route in
      "\(labels(route.key.scope)),transport=\"\(route.key.transport.name)\""
    }
  }

  /// Writes the metrics of the feedback for the apps' own servers, and of its webhooks.
  private mutating func feedback(_ health: HealthSnapshot) {
    many(
      "feedback_items_total", .counter, "Items for the apps' own servers, by what they tell.",
      health.feedback.flatMap { counts in
        Self.reasons(
          [("retired", counts.retired), ("silent", counts.silent), ("returned", counts.returned)],
          after: "\(Self.labels(counts.scope)),")
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

  private enum Kind: String { case counter, gauge }

  private mutating func gauge(_ name: String, _ help: String, _ value: some BinaryInteger) {
    many(name, .gauge, help, [("", Double(value))])
  }

  private mutating func gauge(_ name: String, _ help: String, _ value: Double) {
    many(name, .gauge, help, [("", value)])
  }

  private mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
    many(name, .counter, help, [("", Double(value))])
  }

  private mutating func counter(_ name: String, _ help: String, _ value: Double) {
    many(name, .counter, help, [("", value)])
  }

  private mutating func many(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: String, value: Double)]
  ) {
    text += "# HELP zonerelay_\(name) \(help)\n# TYPE zonerelay_\(name) \(kind.rawValue)\n"
    for (labels, value) in samples {
      let number = Int64(exactly: value).map { "\($0)" } ?? "\(value)"
      text += "zonerelay_\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(number)\n"
    }
  }

  /// Samples that differ in the label `reason`.
  private static func reasons(
    _ counts: [(String, some BinaryInteger)], after labels: String = ""
  ) -> [(labels: String, value: Double)] {
    counts.map { ("\(labels)reason=\"\($0.0)\"", Double($0.1)) }
  }

  private static func labels(_ scope: Scope) -> String {
    "container=\"\(escaped(scope.container))\",environment=\"\(scope.environment.name)\""
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for character in text {
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n": result += "\\n"
      default: result.append(character)
      }
    }
    return result
  }
}
