import RelayWire

extension StatusReport: Readable {
  func lines(_ paint: Paint) -> [String] {
    let health = healthy ? paint.good("healthy") : paint.bad("unhealthy")
    let balance = ledger.balanced ? paint.good("balanced") : paint.bad("does not balance")
    var lines = [
      "zonerelay \(version)  \(health)  up \(HumanFormat.age(uptime))  pid \(pid)"
    ]
    lines += reasons.map { "  \(paint.bad("!")) \(HumanFormat.line($0))" }
    lines += TextTable.lines([
      [
        "store", store.engine, HumanFormat.size(store.bytes), "journal tail \(store.journalTail)",
        "fold lag \(HumanFormat.age(store.foldLag))",
      ],
      [
        "changes", "accepted \(changes.accepted)", "duplicates \(changes.duplicates)",
        "rejected \(changes.rejected)",
        "ids \(remembered.ids), oldest \(HumanFormat.age(remembered.oldestAge))",
      ],
      [
        "pending", "deliveries \(ledger.pending)",
        "oldest \(HumanFormat.age(oldestPendingAge))", "fan-outs \(fanouts.running)",
        "oldest \(HumanFormat.age(fanouts.oldestAge))",
      ],
    ])
    lines += ["", "ledger \(balance)"]
    lines += Self.twoRows(ledger.columns)
    lines += ["", "lanes"]
    lines += Self.twoRows(lanes.columns)
    return lines + routeLines() + webhookLines()
  }

  /// The last error of a route or webhook in one line: a server's words may hold any characters.
  private static func said(_ error: String?) -> String { error.map(HumanFormat.line) ?? "-" }

  /// A row of names and a row of their counts.
  private static func twoRows(_ columns: [(name: String, count: Int64)]) -> [String] {
    TextTable.lines([columns.map(\.name), columns.map { "\($0.count)" }]).map { "  \($0)" }
  }

  private func routeLines() -> [String] {
    guard !routes.isEmpty else { return ["", "no routes: no push leaves"] }
    let heading = [
      "  CONTAINER", "ENVIRONMENT", "TRANSPORT", "TOPIC", "CIRCUIT", "IN FLIGHT", "SENT",
      "DELIVERED", "LAST ERROR",
    ]
    let rows = routes.map { route in
      [
        "  \(route.container)", route.environment, route.transport, route.topic, route.circuit,
        "\(route.inFlight)", "\(route.sent)", "\(route.delivered)",
        Self.said(route.lastError),
      ]
    }
    return ["", "routes"] + TextTable.lines([heading] + rows)
  }

  private func webhookLines() -> [String] {
    guard !webhooks.isEmpty else { return [] }
    let heading = [
      "  CONTAINER", "ENVIRONMENT", "STATE", "POSITION", "SENT", "FAILED", "OLDEST", "LAST ERROR",
    ]
    let rows = webhooks.map { hook in
      [
        "  \(hook.container)", hook.environment, hook.state, "\(hook.position)", "\(hook.sent)",
        "\(hook.failed)", HumanFormat.age(hook.oldestAge), Self.said(hook.lastError),
      ]
    }
    return ["", "webhooks"] + TextTable.lines([heading] + rows)
  }
}

extension StatusReport.Ledger {
  fileprivate var columns: [(name: String, count: Int64)] {
    [
      ("matched", matched), ("recovered", recovered), ("own", own), ("merged", merged),
      ("woken", woken), ("fetched", fetched), ("withdrawn", withdrawn), ("retired", retired),
      ("expired", expired), ("pending", pending),
    ]
  }
}

extension StatusReport.Lanes {
  fileprivate var columns: [(name: String, count: Int64)] {
    [
      ("idle", idle), ("gathering", gathering), ("due", due), ("in flight", inFlight),
      ("resting", resting), ("watching", watching), ("retired", retired),
    ].map { ($0.0, Int64($0.1)) }
  }
}
