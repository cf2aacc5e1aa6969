/// Bounds of the doors, units in the names. Each is documented and has a refusal and a test (P11).
package struct HTTPLimits: Hashable, Sendable {
  package var eventsPerRequest = 1_000
  /// One event's own text in a request.
  package var eventBytes = 1_024 * 1_024
  package var bodyBytes = 4 * 1_024 * 1_024
  /// Bodies that are read at one moment, all together.
  package var bodyBytesInFlight = 256 * 1_024 * 1_024
  /// Operations, zones or lookups of one request.
  package var operationsPerRequest = 200
  package var pageEntries = 200
  /// Subscription ids, zone, owner, record and user names.
  package var nameBytes = 255
  /// An event's id or source.
  package var eventAttributeBytes = 1_024
  package var pushTokenBytes = 1_024
  /// The URL of a browser's push subscription.
  package var endpointBytes = 1_024
  /// Any one text of a subscription.
  package var subscriptionTextBytes = 1_024
  /// Localisation arguments of one kind, or filters, of a subscription.
  package var subscriptionListItems = 20
  package var desiredKeys = 3
  package var connections = 60_000
  /// How long a courier's poll is held before it is answered empty.
  package var courierHoldSeconds = 55
  /// Polls and streams open at one moment.
  package var courierConnections = 50_000
  /// How long a courier's reader may take to read its answer.
  package var courierReadSeconds = 5
  package var courierTokenSeconds: Int64 = 12 * 3_600
  /// User tokens whose signature is remembered, per scope.
  package var verifiedTokens = 10_000
  package var connectionIdleSeconds = 75
  /// Requests get this long to finish once the daemon stops.
  package var drainSeconds = 10
  /// Devices that one control request may list.
  package var devicesListed = 10_000

  package init() {}
}
