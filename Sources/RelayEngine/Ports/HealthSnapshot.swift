package import RelayCore

/// The daemon's state at one moment. Ages are in seconds, and sizes in bytes.
package struct HealthSnapshot: Hashable, Sendable {
  package var healthy: Bool { reasons.isEmpty }
  /// The reasons why the daemon is not healthy, each as a sentence with its remedy.
  package var reasons: [String] = []
  package var isReady = false
  package var uptime: Double = 0
  package var store = StoreHealth()
  package var ledger = Ledger()
  package var changes = Changes()
  package var lanes = Lanes()
  package var routes: [RouteHealth] = []
  /// Routes that a reload has withdrawn, once their last push has ended. Only their counters are of
  /// use, for sums that must never fall.
  package var withdrawnRoutes: [RouteHealth] = []
  package var fanOuts = FanOuts()
  package var remembered = Memory()
  package var smearing = Smearing()
  /// Zones in which numbers of a producer have been missing for too long.
  package var zonesWithGap = 0
  package var oldestPendingAge: Double = 0
  /// Polls and streams that are open at the courier.
  package var courierConnections = 0
  /// Feedback items since the start, by scope.
  package var feedback: [Feedback] = []
  /// The webhooks of the scopes that have one.
  package var webhooks: [Webhook] = []
  /// The flight recorder; nothing is counted if it is off.
  package var recorder = RecorderHealth()

  package init() {}

  package struct StoreHealth: Hashable, Sendable {
    package var engine = ""
    package var bytes: Int64 = 0
    /// Facts that are journalled and not yet folded.
    package var journalTail = 0
    /// Seconds since the last fold while journalled facts wait for a fold; zero if no fact waits,
    /// and before the first fold.
    package var foldLag: Double = 0
    /// Folds that became durable since the start; `feedRows` counts the feed entries that they
    /// wrote.
    package var folds: Int64 = 0
    package var feedRows: Int64 = 0
    /// Reads that failed since the start.
    package var failedReads: Int64 = 0
    package init() {}
  }

  package typealias Changes = Counters.Changes
  package typealias Lanes = Census.Lanes

  package struct RouteHealth: Hashable, Sendable {
    package var key: RouteKey
    /// `closed` lets pushes through, `open` sends none, `probing` sends one to test the route.
    package var circuit: String
    package var inFlight: Int
    package var sent: Int64
    package var delivered: Int64
    package var lastError: String?
    /// Whether the route retires devices that its provider reports as dead. A route retires none
    /// while too many are reported.
    package var isPruning = true
    /// The sum over the senders that the route has and has had.
    package var sender = SenderHealth()

    package init(
      key: RouteKey, circuit: String, inFlight: Int, sent: Int64, delivered: Int64,
      lastError: String?
    ) {
      (self.key, self.circuit, self.lastError) = (key, circuit, lastError)
      (self.inFlight, self.sent, self.delivered) = (inFlight, sent, delivered)
    }
  }

  package struct Smearing: Hashable, Sendable {
    /// Lanes that wait for their slot.
    package var waiting = 0
    /// How often, since the start, a smear had no free slot within its longest time. Another
    /// sequence of slots then began beside the earlier one, and devices fetched faster than
    /// configured.
    package var hurried: Int64 = 0
    package init() {}
  }

  /// Feedback items that became durable.
  package struct Feedback: Hashable, Sendable {
    package var scope: Scope
    package var retired: Int64 = 0
    package var silent: Int64 = 0
    package var returned: Int64 = 0

    package init(scope: Scope) { self.scope = scope }
  }

  package struct Webhook: Hashable, Sendable {
    package enum State: String, Hashable, Sendable {
      /// The server has taken every item.
      case idle
      case sending
      /// The last delivery failed and is tried again.
      case retrying
      /// The server refused further deliveries: no delivery is sent until a reload or a restart.
      case stopped
    }

    package var scope: Scope
    package var state = State.idle
    /// The newest item that the server has taken.
    package var position: UInt64 = 0
    /// Items that the server took since the start; `failed` counts the deliveries that failed.
    package var sent: Int64 = 0
    package var failed: Int64 = 0
    /// The present age of the oldest item that the webhook has read and the server has not taken;
    /// zero if there is no such item.
    package var oldestAge: Double = 0
    package var lastError: String?

    package init(scope: Scope) { self.scope = scope }
  }

  /// Event ids that the relay remembers to recognise repeated events.
  package struct Memory: Hashable, Sendable {
    package var ids = 0
    package var oldestAge: Double = 0
    package init() {}
  }

  package struct FanOuts: Hashable, Sendable {
    package var running = 0
    package var oldestAge: Double = 0
    package init() {}
  }
}
