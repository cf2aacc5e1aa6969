/// The answer to `GET /devices` on the control socket. The answer contains no secret: of a push
/// token it shows only the first eight digits of the SHA-256.
package struct DevicesReport: Codable, Hashable, Sendable {
  package var devices: [DeviceReport]
  /// True if there are more devices than one answer holds; absent otherwise.
  package var moreComing: Bool?

  package init(devices: [DeviceReport], moreComing: Bool? = nil) {
    self.devices = devices
    self.moreComing = moreComing
  }
}

/// One registration, as of the last fold.
package struct DeviceReport: Codable, Hashable, Sendable {
  package var clientId: String
  package var user: String
  package var container: String
  package var environment: String
  package var transport: String
  package var topic: String
  /// The state of the registration: `active` or `retired`.
  package var state: String
  /// Why the device was retired: the provider's reason or the relay's own.
  package var reason: String?
  /// When the device was registered, in milliseconds since 1970.
  package var registeredAt: Int64
  /// The seconds since `registeredAt`.
  package var age: Double
  /// The first eight hexadecimal digits of the push token's SHA-256; empty if the device has lost
  /// its token.
  package var tokenDigest: String
  /// The durable state of the device's lane: `idle`, `due` (something pending is in no wake yet),
  /// `watching` (wakes cover everything, but the device has not acknowledged) or `retired`.
  package var lane: String
  /// The number of pending deliveries.
  package var pending: Int
  package var hasAcknowledged: Bool
  /// The next wake has this number or a higher one.
  package var nextWake: UInt32
  /// Time of the last wake that lets the app run, in milliseconds since 1970; absent if there was
  /// none. An alert without content-available is no such wake.
  package var lastWake: Int64?
  /// How many times the relay has woken the device again without an answer from the device.
  package var ladderStep: Int
  /// The outcome of the last delivery attempt: `delivered`, or why the wake was not delivered;
  /// absent before the first attempt.
  package var lastVerdict: String?
  /// Time of the last verdict in milliseconds since 1970.
  package var lastVerdictAt: Int64?
  /// When the device last fetched or acknowledged with its `clientId`, in milliseconds since 1970.
  package var lastFetch: Int64?

  package init(
    clientId: String, user: String, container: String, environment: String, transport: String,
    topic: String, state: String, reason: String?, registeredAt: Int64, age: Double,
    tokenDigest: String, lane: String, pending: Int, hasAcknowledged: Bool, nextWake: UInt32,
    lastWake: Int64?, ladderStep: Int, lastVerdict: String? = nil, lastVerdictAt: Int64? = nil,
    lastFetch: Int64? = nil
  ) {
    (self.clientId, self.user, self.container) = (clientId, user, container)
    (self.environment, self.transport, self.topic) = (environment, transport, topic)
    (self.state, self.reason, self.registeredAt) = (state, reason, registeredAt)
    (self.age, self.tokenDigest, self.lane) = (age, tokenDigest, lane)
    (self.pending, self.hasAcknowledged, self.nextWake) = (pending, hasAcknowledged, nextWake)
    (self.lastWake, self.ladderStep, self.lastVerdict) = (lastWake, ladderStep, lastVerdict)
    (self.lastVerdictAt, self.lastFetch) = (lastVerdictAt, lastFetch)
  }
}
