extension StatusReport {
  package struct Ledger: Codable, Hashable, Sendable {
    package var matched: Int64 = 0
    package var recovered: Int64 = 0
    package var own: Int64 = 0
    package var merged: Int64 = 0
    package var woken: Int64 = 0
    package var fetched: Int64 = 0
    package var withdrawn: Int64 = 0
    package var retired: Int64 = 0
    package var expired: Int64 = 0
    package var pending: Int64 = 0
    package var balanced: Bool = true

    package init() {}
  }

  package struct Lanes: Codable, Hashable, Sendable {
    package var idle = 0
    package var gathering = 0
    package var due = 0
    package var inFlight = 0
    package var resting = 0
    package var watching = 0
    package var retired = 0

    package init() {}
  }

  package struct RouteReport: Codable, Hashable, Sendable {
    package var container: String
    package var environment: String
    package var transport: String
    package var topic: String
    /// The state of the route's circuit: `closed` lets pushes through, `open` stops pushes, and
    /// `probing` tries one push.
    package var circuit: String
    package var inFlight: Int
    package var sent: Int64
    package var delivered: Int64
    package var lastError: String?

    package init(
      container: String, environment: String, transport: String, topic: String, circuit: String,
      inFlight: Int, sent: Int64, delivered: Int64, lastError: String?
    ) {
      (self.container, self.environment, self.lastError) = (container, environment, lastError)
      (self.transport, self.topic, self.circuit) = (transport, topic, circuit)
      (self.inFlight, self.sent, self.delivered) = (inFlight, sent, delivered)
    }
  }

  package struct Webhook: Codable, Hashable, Sendable {
    package var container: String
    package var environment: String
    /// The state of the webhook: `idle`, `sending`, `retrying` or `stopped`.
    package var state: String
    /// The position of the newest feedback item that the webhook's server has accepted.
    package var position: UInt64
    /// The number of items that the server has accepted since the daemon's start. `failed` is the
    /// number of deliveries that the server has not accepted since then.
    package var sent: Int64
    package var failed: Int64
    /// The age in seconds of the oldest item that waits for its delivery.
    package var oldestAge: Double
    package var lastError: String?

    package init(
      container: String, environment: String, state: String, position: UInt64, sent: Int64,
      failed: Int64, oldestAge: Double, lastError: String?
    ) {
      self.container = container
      self.environment = environment
      self.state = state
      self.position = position
      self.sent = sent
      self.failed = failed
      self.oldestAge = oldestAge
      self.lastError = lastError
    }
  }
}
