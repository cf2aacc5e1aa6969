/// The answer to `GET /explain` on the control socket. Times are milliseconds since 1970.
package struct ExplainReport: Codable, Hashable, Sendable {
  /// The relay's time of the answer.
  package var now: Int64
  /// The time of the oldest entry that the flight recorder keeps: of earlier changes nothing is
  /// known. Absent if it keeps none.
  package var knownSince: Int64?
  /// How many times entries are missing since then.
  package var gaps: Int
  /// The devices that are asked about, as they are now.
  package var devices: [DeviceStanding]
  /// The explained changes, oldest first.
  package var changes: [ExplainedChange]
  /// True if older changes would answer the question too, and are left out.
  package var moreChanges: Bool

  package init(
    now: Int64, knownSince: Int64?, gaps: Int, devices: [DeviceStanding],
    changes: [ExplainedChange], moreChanges: Bool
  ) {
    self.now = now
    self.knownSince = knownSince
    self.gaps = gaps
    self.devices = devices
    self.changes = changes
    self.moreChanges = moreChanges
  }

  /// How long the daemon takes to answer at most, and how long the command waits for it.
  package static let answeredWithin = Duration.seconds(40)
  package static let commandWaits = Duration.seconds(45)

  /// A device at the time of the answer.
  package struct DeviceStanding: Codable, Hashable, Sendable {
    package var clientId: String
    package var user: String
    package var container: String
    package var environment: String
    package var isRegistered: Bool
    package var route: TraceLine.RouteName?
    package var registeredAt: Int64?
    package var retired: String?
    /// What waits to be told, and why it waits.
    package var waiting: [Waiting]

    package init(
      clientId: String, user: String, container: String, environment: String, isRegistered: Bool,
      waiting: [Waiting]
    ) {
      self.clientId = clientId
      self.user = user
      self.container = container
      self.environment = environment
      self.isRegistered = isRegistered
      self.waiting = waiting
    }
  }

  package struct Waiting: Codable, Hashable, Sendable {
    /// What waits: a zone as `owner/name`, `notifications`, `further zones` or `alert`.
    package var what: String
    /// Absent if a wake has told it and only the device's acknowledgement is awaited.
    package var reason: Reason?

    package init(what: String, reason: Reason?) { (self.what, self.reason) = (what, reason) }
  }

  /// One reason of a closed list (docs/operations.md).
  package struct Reason: Codable, Hashable, Sendable {
    package var code: String
    package var until: Int64?
    package var at: Int64?
    package var w: UInt32?
    /// A provider's own reason, or a subscription's name.
    package var detail: String?

    package init(code: String) { self.code = code }
  }

  package struct ExplainedChange: Codable, Hashable, Sendable {
    /// The entry of the change.
    package var change: TraceLine
    package var devices: [ExplainedDevice]
    /// How many further devices the change concerns.
    package var moreDevices: Int

    package init(change: TraceLine, devices: [ExplainedDevice], moreDevices: Int) {
      (self.change, self.devices, self.moreDevices) = (change, devices, moreDevices)
    }
  }

  package struct ExplainedDevice: Codable, Hashable, Sendable {
    package var clientId: String
    package var user: String
    package var container: String
    package var environment: String
    package var result: Result
    package var deliveries: [Delivery]
    package var story: [TraceLine]

    package init(
      clientId: String, user: String, container: String, environment: String, result: Result,
      deliveries: [Delivery], story: [TraceLine]
    ) {
      self.clientId = clientId
      self.user = user
      self.container = container
      self.environment = environment
      self.result = result
      self.deliveries = deliveries
      self.story = story
    }
  }

  /// What became of a change for a device.
  package struct Result: Codable, Hashable, Sendable {
    /// `woken`, `not_woken` or `unknown`.
    package var outcome: String
    package var w: UInt32?
    package var apnsID: String?
    package var reason: Reason?

    package init(outcome: String) { self.outcome = outcome }
  }

  /// What became of the notification of one subscription.
  package struct Delivery: Codable, Hashable, Sendable {
    package var subscriptionID: String
    package var result: Result
    package var toldAt: Int64?
    /// How the device first showed that it has the change, as in `TraceLine.kind`, and when.
    package var acknowledged: String?
    package var acknowledgedAt: Int64?

    package init(subscriptionID: String, result: Result) {
      (self.subscriptionID, self.result) = (subscriptionID, result)
    }
  }
}
