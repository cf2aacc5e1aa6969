import Hummingbird
import RelayCore
import RelayEngine

/// The daemon's state as Prometheus text, in base units. The values of labels come from fixed lists
/// and from the configuration; they never name a token, user or zone.
struct MetricsText {
  private(set) var text = ""

  static func response(_ admin: AdminAPI) async -> Response {
    Response(
      text: MetricsText(await admin.health(), process: admin.process()).text,
      type: "text/plain; version=0.0.4; charset=utf-8")
  }

  init(_ health: HealthSnapshot, process: ProcessUsage) {
    single("uptime_seconds", .gauge, "Seconds since start.", health.uptime)
    single(
      "ready", .gauge, "1 once recovery is over and requests are served.", health.isReady ? 1 : 0)
    single("healthy", .gauge, "1 if status names no reason.", health.healthy ? 1 : 0)
    store(health)
    ledger(health)
    lanes(health)
    routes(health)
    single(
      "fanouts_running", .gauge, "Changes that still have users to reach.",
      Double(health.fanOuts.running))
    single(
      "fanouts_oldest_age_seconds", .gauge,
      "Age of the oldest change that still has users to reach.", health.fanOuts.oldestAge)
    single(
      "smeared_lanes", .gauge, "Devices that wait for their slot in the smear of a hot change.",
      Double(health.smearing.waiting))
    single(
      "smears_hurried_total", .counter,
      "Times a smear was too long for its rate, and woke faster.",
      Double(health.smearing.hurried))
    single(
      "zones_with_gap", .gauge, "Zones of which numbered changes are missing for too long.",
      Double(health.zonesWithGap))
    single(
      "courier_connections", .gauge, "Polls and streams open at the courier.",
      Double(health.courierConnections))
    feedback(health)
    single(
      "trace_entries_total", .counter, "Entries that the flight recorder took.",
      Double(health.recorder.recorded))
    single(
      "trace_entries_lost_total", .counter,
      "Entries that the flight recorder dropped or could not write.",
      Double(health.recorder.lost))
    single(
      "oldest_pending_age_seconds", .gauge, "Age of the oldest delivery that waits.",
      health.oldestPendingAge)
    machine(process)
  }

  enum Kind: String { case counter, gauge }

  private mutating func store(_ health: HealthSnapshot) {
    single("store_bytes", .gauge, "Size of the store's files.", Double(health.store.bytes))
    single(
      "store_journal_tail_facts", .gauge, "Facts journalled and not folded.",
      Double(health.store.journalTail))
    single(
      "store_fold_lag_seconds", .gauge,
      "Time since the last fold while journalled facts wait for the next, else 0.",
      health.store.foldLag)
    single(
      "store_reads_failed_total", .counter, "Reads for devices and operators that failed.",
      Double(health.store.failedReads))
    single("folds_total", .counter, "Folds that became durable.", Double(health.store.folds))
    single(
      "feed_rows_written_total", .counter, "Feed entries that folds wrote.",
      Double(health.store.feedRows))
    many(
      "changes_total", .counter, "Changes that producers reported, by outcome.",
      [
        ("outcome=\"accepted\"", Double(health.changes.accepted)),
        ("outcome=\"duplicate\"", Double(health.changes.duplicates)),
        ("outcome=\"rejected\"", Double(health.changes.rejected)),
      ])
  }

  private mutating func ledger(_ health: HealthSnapshot) {
    let ledger = health.ledger
    many(
      "deliveries_entered_total", .counter, "Deliveries that came to be, by origin.",
      [
        ("reason=\"matched\"", Double(ledger.matched)),
        ("reason=\"recovered\"", Double(ledger.recovered)),
      ])
    many(
      "deliveries_ended_total", .counter, "Deliveries that wait no more, by how they ended.",
      [
        ("own", ledger.own), ("merged", ledger.merged), ("woken", ledger.woken),
        ("fetched", ledger.fetched), ("withdrawn", ledger.withdrawn),
        ("retired", ledger.retired), ("expired", ledger.expired),
      ].map { ("reason=\"\($0.0)\"", Double($0.1)) })
    single("deliveries_pending", .gauge, "Deliveries that wait.", Double(ledger.pending))
    single(
      "ledger_balanced", .gauge, "1 if entered equals ended and pending.",
      ledger.isBalanced ? 1 : 0)
  }

  private mutating func lanes(_ health: HealthSnapshot) {
    let lanes = health.lanes
    many(
      "lanes", .gauge, "Devices by the state of their lane.",
      [
        ("idle", lanes.idle), ("gathering", lanes.gathering), ("due", lanes.due),
        ("in_flight", lanes.inFlight), ("resting", lanes.resting),
        ("watching", lanes.watching), ("retired", lanes.retired),
      ].map { ("reason=\"\($0.0)\"", Double($0.1)) })
  }

  /// Writes gauges of files, sockets, connections and memory, and a counter of CPU time.
  private mutating func machine(_ process: ProcessUsage) {
    single(
      "open_files", .gauge, "Open descriptors: files, sockets, connections.",
      Double(process.openFiles))
    single(
      "open_files_max", .gauge, "How many may be open.", Double(process.openFilesMax))
    single(
      "api_connections", .gauge, "Connections at the API's listener.",
      Double(process.apiConnections))
    single(
      "resident_memory_bytes", .gauge, "Memory in use.", Double(process.residentBytes))
    single(
      "cpu_seconds_total", .counter, "CPU used, user and system.", process.cpuSeconds)
  }

  private mutating func single(
    _ name: String, _ kind: Kind, _ help: String, _ value: Double
  ) {
    many(name, kind, help, [("", value)])
  }

  mutating func many(
    _ name: String, _ kind: Kind, _ help: String, _ samples: [(labels: String, value: Double)]
  ) {
    text += "# HELP zonerelay_\(name) \(help)\n# TYPE zonerelay_\(name) \(kind.rawValue)\n"
    for sample in samples {
      let labels = sample.labels.isEmpty ? "" : "{\(sample.labels)}"
      text += "zonerelay_\(name)\(labels) \(Self.number(sample.value))\n"
    }
  }

  private static func number(_ value: Double) -> String {
    Int64(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  static func escaped(_ text: String) -> String {
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
