/// The answer to `GET /explain` on the control socket. Times are milliseconds since 1970.
package struct ExplainReport: Codable, Hashable, Sendable {
  /// The relay's time of the answer.
  package var now: Int64
  /// The time of the oldest entry that the flight recorder keeps: of earlier changes nothing is
  /// known. Absent if the flight recorder keeps no entry.
  package var knownSince: Int64?
  /// The number of places since `knownSince` at which entries are missing.
  package var gaps: Int
  /// The devices that are asked about, as they are now.
  package var devices: [DeviceStanding]
  /// The explained changes, oldest first.
  package var changes: [ExplainedChange]
  /// True if the operator's question is also about older changes, which this report leaves out.
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

  /// The longest time that the daemon takes to answer. `commandWaits` is how long the command waits
  /// for the answer.
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
    /// What pends for the device, and why each part is not told yet. The reason is absent for a
    /// part that a delivered wake has told.
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
    /// Why this part is not told yet; absent if a delivered wake has told the part, and only the
    /// device's acknowledgement is awaited.
    package var reason: Reason?

    package init(what: String, reason: Reason?) { (self.what, self.reason) = (what, reason) }
  }

  /// One reason of a closed list (docs/operations.md).
  package struct Reason: Codable, Hashable, Sendable {
    package var code: String
    package var until: Int64?
    package var at: Int64?
    package var w: UInt32?
    /// A provider's or the relay's own reason, a subscription's id, or the budget that is spent:
    /// `alert` or `background`.
    package var detail: String?

    package init(code: String) { self.code = code }
  }

  package struct ExplainedChange: Codable, Hashable, Sendable {
    /// The entry of the change.
    package var change: TraceLine
    package var devices: [ExplainedDevice]
    /// The number of devices that the change concerns and `devices` does not list.
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

  /// The outcome of a change, or of one notification, for a device.
  package struct Result: Codable, Hashable, Sendable {
    /// `woken`, `not_woken` or `unknown`.
    package var outcome: String
    package var w: UInt32?
    package var apnsID: String?
    package var reason: Reason?

    package init(outcome: String) { self.outcome = outcome }
  }

  /// The outcome of the notification of one subscription.
  package struct Delivery: Codable, Hashable, Sendable {
    package var subscriptionID: String
    package var result: Result
    package var toldAt: Int64?
    /// How the device first showed that it has the change, as in `TraceLine.kind`. `acknowledgedAt`
    /// is the time at which the device showed this.
    package var acknowledged: String?
    package var acknowledgedAt: Int64?

    package init(subscriptionID: String, result: Result) {
      (self.subscriptionID, self.result) = (subscriptionID, result)
    }
  }
}
