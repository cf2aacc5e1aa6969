/// The answer to `GET /status` and the output of `zonerelay status --json`, whose form is
/// documented for operators. Ages are in seconds, sizes in bytes.
package struct StatusReport: Codable, Hashable, Sendable {
  package var version: String
  package var pid: Int32
  package var uptime: Double
  package var healthy: Bool
  /// Why the relay is not healthy. Each reason is a sentence with its remedy.
  package var reasons: [String]
  package var store: Store
  package var ledger: Ledger
  package var changes: Changes
  package var lanes: Lanes
  package var routes: [RouteReport]
  package var fanouts: FanOuts
  package var oldestPendingAge: Double
  package var remembered: Memory
  /// The webhooks of the environments whose feedback is delivered.
  package var webhooks: [Webhook]

  package init(
    version: String, pid: Int32, uptime: Double, healthy: Bool, reasons: [String], store: Store,
    ledger: Ledger, changes: Changes, lanes: Lanes, routes: [RouteReport], fanouts: FanOuts,
    oldestPendingAge: Double, remembered: Memory = Memory(), webhooks: [Webhook] = []
  ) {
    self.version = version
    self.pid = pid
    self.uptime = uptime
    self.healthy = healthy
    self.reasons = reasons
    self.store = store
    self.ledger = ledger
    self.changes = changes
    self.lanes = lanes
    self.routes = routes
    self.fanouts = fanouts
    self.oldestPendingAge = oldestPendingAge
    self.remembered = remembered
    self.webhooks = webhooks
  }

  package struct Store: Codable, Hashable, Sendable {
    package var engine: String
    package var bytes: Int64
    package var journalTail: Int
    package var foldLag: Double

    package init(engine: String, bytes: Int64, journalTail: Int, foldLag: Double) {
      self.engine = engine
      self.bytes = bytes
      self.journalTail = journalTail
      self.foldLag = foldLag
    }
  }

  /// The number and the highest age of the remembered event ids, by which the relay recognises
  /// repeated events.
  package struct Memory: Codable, Hashable, Sendable {
    package var ids: Int
    package var oldestAge: Double

    package init(ids: Int = 0, oldestAge: Double = 0) {
      self.ids = ids
      self.oldestAge = oldestAge
    }
  }

  package struct Changes: Codable, Hashable, Sendable {
    package var accepted: Int64
    package var duplicates: Int64
    package var rejected: Int64

    package init(accepted: Int64, duplicates: Int64, rejected: Int64) {
      (self.accepted, self.duplicates, self.rejected) = (accepted, duplicates, rejected)
    }
  }

  package struct FanOuts: Codable, Hashable, Sendable {
    package var running: Int
    package var oldestAge: Double

    package init(running: Int, oldestAge: Double) {
      self.running = running
      self.oldestAge = oldestAge
    }
  }
}
