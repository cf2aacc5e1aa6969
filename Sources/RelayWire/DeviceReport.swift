/// What `GET /devices` answers on the control socket. Holds nothing secret: a push token shows only
/// as the first eight digits of its SHA-256.
package struct DevicesReport: Codable, Hashable, Sendable {
  package var devices: [DeviceReport]
  /// True if there are more than one answer holds; absent otherwise.
  package var moreComing: Bool?

  package init(devices: [DeviceReport], moreComing: Bool? = nil) {
    self.devices = devices
    self.moreComing = moreComing
  }
}

/// One registration, as the last fold left it.
package struct DeviceReport: Codable, Hashable, Sendable {
  package var clientId: String
  package var user: String
  package var container: String
  package var environment: String
  package var transport: String
  package var topic: String
  /// `active` or `retired`.
  package var state: String
  /// Why it was retired: the provider's word, or ours.
  package var reason: String?
  /// Milliseconds since 1970, as every instant on the wire.
  package var registeredAt: Int64
  /// Seconds since then.
  package var age: Double
  /// First eight hexadecimal digits of the push token's SHA-256; empty if it has lost its token.
  package var tokenDigest: String
  /// `idle`, `due` (something pends that no wake has told), `watching` (all is told and not
  /// acknowledged) or `retired`: what is durable of its lane.
  package var lane: String
  /// Deliveries that wait.
  package var pending: Int
  package var hasAcknowledged: Bool
  /// The next wake's number is this or higher.
  package var nextWake: UInt32
  /// Milliseconds since 1970; absent if it was never woken.
  package var lastWake: Int64?
  /// How many times it was woken again without a sign from it.
  package var ladderStep: Int
  /// What came of the last attempt: `delivered`, or why not; absent before the first.
  package var lastVerdict: String?
  /// Milliseconds since 1970.
  package var lastVerdictAt: Int64?
  /// When it last fetched or acknowledged, naming itself; milliseconds since 1970.
  package var lastFetch: Int64?

  package init(
    clientId: String, user: String, container: String, environment: String, transport: String,
    topic: String, state: String, reason: String?, registeredAt: Int64, age: Double,
    tokenDigest: String, lane: String, pending: Int, hasAcknowledged: Bool, nextWake: UInt32,
    lastWake: Int64?, ladderStep: Int, lastVerdict: String? = nil, lastVerdictAt: Int64? = nil,
    lastFetch: Int64? = nil
  ) {
    self.clientId = clientId
    self.user = user
    self.container = container
    self.environment = environment
    self.transport = transport
    self.topic = topic
    self.state = state
    self.reason = reason
    self.registeredAt = registeredAt
    self.age = age
    self.tokenDigest = tokenDigest
    self.lane = lane
    self.pending = pending
    self.hasAcknowledged = hasAcknowledged
    self.nextWake = nextWake
    self.lastWake = lastWake
    self.ladderStep = ladderStep
    self.lastVerdict = lastVerdict
    self.lastVerdictAt = lastVerdictAt
    self.lastFetch = lastFetch
  }
}
