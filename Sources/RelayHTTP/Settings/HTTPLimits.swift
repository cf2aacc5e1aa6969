import Foundation
package import RelayCore

/// Limits of requests, connections and answers, with units in their names. Each limit is documented
/// and has a refusal and a test (P11).
package struct HTTPLimits: Hashable, Sendable {
  package var eventsPerRequest = 1_000
  /// The most bytes that the JSON text of one event may have.
  package var eventBytes = 1_024 * 1_024
  package var bodyBytes = 4 * 1_024 * 1_024
  /// The most bytes of all bodies in memory at the same time, together.
  package var bodyBytesInFlight = 256 * 1_024 * 1_024
  /// The most operations, zones or lookups in one request.
  package var operationsPerRequest = 200
  /// The most bytes of all answers that are being written or wait until clients read them,
  /// together.
  package var answerBytesInFlight = 256 * 1_024 * 1_024
  package var answerBytesPerCaller = 8 * 1_024 * 1_024
  /// The size at which the relay adds no further subscription to an answer.
  package var subscriptionAnswerBytes = 1_024 * 1_024
  /// The size requested for the kernel's send buffer of one connection. The kernel keeps at most
  /// twice as much.
  package var sendBufferBytes = 128 * 1_024
  package var pageEntries = 200
  /// The most entries of all pages of one request together. Each page may have at least one entry,
  /// so that its reader advances.
  package var entriesPerRequest = 1_000
  /// The most bytes of a subscription id, or of the name of a zone, owner, record or user.
  package var nameBytes = 255
  /// The most bytes of an event's id or source.
  package var eventAttributeBytes = 1_024
  package var pushTokenBytes = 1_024
  /// The most bytes of the URL of a browser's push subscription.
  package var endpointBytes = 1_024
  /// The most bytes of any single text of a subscription.
  package var subscriptionTextBytes = 1_024
  /// The most localisation arguments of one kind, and the most filters, that a subscription may
  /// have.
  package var subscriptionListItems = 20
  /// The most members of the list that a filter compares a field with.
  package var filterValues = 128
  package var desiredKeys = 3
  /// The most values of one record that the relay reads for matching: the record's fields and the
  /// members of their lists, together.
  package var valuesPerRecord = 100_000
  package var connections = 60_000
  /// The most connections of one public address. Private and loopback addresses are not counted,
  /// because all callers behind a proxy have the proxy's address.
  package var connectionsPerAddress = 4_096
  /// The most facts of all callers that the inbox has accepted and the relay has not answered yet.
  /// One producer may have half of them (`changesPerProducer`).
  package var inboxChanges = 65_536
  package var inboxBytes = 64 * 1_024 * 1_024
  /// The most readers of all users together that may wait for a fold. `requestsPerCaller` bounds
  /// the readers of one user.
  package var waitingReaders = 4_096
  /// The most reads of the store at the same time: two per core, because some reads wait for the
  /// disk. The daemon lowers this limit to the number of reads that the store itself runs at once,
  /// because reads that wait inside the store take no turns.
  package var storeLooks = 2 * max(2, ProcessInfo.processInfo.activeProcessorCount)
  /// The longest time that a request waits for folds and for turns to read the store, together.
  package var answerWithin = Span.seconds(20)
  /// The most items that a user may write in a minute, even all at once. Items are operations on
  /// subscriptions, ids of notifications to mark as read, registrations and the like.
  package var writesPerMinute = 12_000
  /// The most failed authentications a minute from one public address. A private or loopback
  /// address may have a hundred times as many, because it may be a proxy of many callers.
  package var failedAuthenticationsPerMinute = 600
  /// The most users whose writes are counted, and the most addresses whose failures are counted.
  /// Beyond this number, the counts unused for longest are dropped.
  package var ratedCallers = 100_000
  /// How long a body may take if its sender is known only after the body has arrived.
  package var unverifiedBodySeconds = 10
  /// How long the courier holds a poll before it sends an empty answer.
  package var courierHoldSeconds = 55
  /// The most polls and streams of the courier that may be open at the same time.
  package var courierConnections = 50_000
  /// How long a wake of the courier may take to leave for the network. After this time the courier
  /// closes the connection, because the device does not read.
  package var courierReadSeconds = 5
  package var courierTokenSeconds: Int64 = 12 * 3_600
  /// The most verified user tokens that the relay remembers per scope.
  package var verifiedTokens = 10_000
  package var connectionIdleSeconds = 75
  /// How long requests may take to finish once the daemon has begun to stop.
  package var drainSeconds = 10
  /// The most devices that one answer lists, on the control socket and in the API.
  package var devicesListed = 10_000

  package init() {}

  /// The most bytes of all bodies of one producer in memory at the same time.
  var bodyBytesPerProducer: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// The most bytes of all bodies of one user in memory at the same time. This limit is smaller
  /// than a producer's, because the parsed form of a user's body is kept until the answer and takes
  /// many times as much memory.
  var bodyBytesPerUser: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// The most bytes of all bodies whose sender is not known yet, together. The bodies of known
  /// callers count separately.
  var unverifiedBodyBytes: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// The most bytes of all bodies that come from one address and claim one key id, before their
  /// sender is known.
  var bodyBytesPerClaim: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// The most requests of one user or producer under way. A request is under way until its answer
  /// has left for the network, so the limit also bounds the caller's readers that wait and its
  /// answers that are not read yet.
  var requestsPerCaller: Int { max(16, waitingReaders / 16) }
  /// The most reads of the store by one caller at the same time: half of `storeLooks`, so that the
  /// reads of other callers find a place at once.
  var storeLooksPerCaller: Int { max(1, storeLooks / 2) }
  /// The most changes of one producer that are accepted and not answered yet.
  var changesPerProducer: Int { max(eventsPerRequest, inboxChanges / 2) }
  /// The most bytes of changes of one producer that are accepted and not answered yet.
  var inboxBytesPerProducer: Int { max(1, inboxBytes / 2) }
  var inboxBytesPerUser: Int { max(1, inboxBytes / 8) }
}
