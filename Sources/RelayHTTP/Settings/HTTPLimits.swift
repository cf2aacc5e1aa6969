import Foundation
package import RelayCore

/// Bounds of requests, with units in their names. Each is documented and has a refusal and a test
/// (P11).
package struct HTTPLimits: Hashable, Sendable {
  package var eventsPerRequest = 1_000
  /// The JSON text of one event in a request.
  package var eventBytes = 1_024 * 1_024
  package var bodyBytes = 4 * 1_024 * 1_024
  /// All bodies that are read at the same time, together.
  package var bodyBytesInFlight = 256 * 1_024 * 1_024
  /// Operations, zones or lookups of one request.
  package var operationsPerRequest = 200
  /// All answers that are being written or wait for their readers, together.
  package var answerBytesInFlight = 256 * 1_024 * 1_024
  package var answerBytesPerCaller = 8 * 1_024 * 1_024
  /// An answer of this many bytes or more gets no further subscription.
  package var subscriptionAnswerBytes = 1_024 * 1_024
  /// The size requested for the kernel's send buffer of one connection. The kernel keeps at most
  /// twice as much.
  package var sendBufferBytes = 128 * 1_024
  package var pageEntries = 200
  /// Entries of all pages that one request asks for. Each page has at least one, so that it
  /// advances.
  package var entriesPerRequest = 1_000
  /// Subscription ids, zone, owner, record and user names.
  package var nameBytes = 255
  /// An event's id or source.
  package var eventAttributeBytes = 1_024
  package var pushTokenBytes = 1_024
  /// The URL of a browser's push subscription.
  package var endpointBytes = 1_024
  /// Any single text of a subscription.
  package var subscriptionTextBytes = 1_024
  /// Localisation arguments of one kind, or filters, of a subscription.
  package var subscriptionListItems = 20
  /// Members of the list that a filter compares with.
  package var filterValues = 128
  package var desiredKeys = 3
  /// Fields of a record and members of their lists, together: what matching reads of one record.
  package var valuesPerRecord = 100_000
  package var connections = 60_000
  /// Connections of one public address. Other addresses are not counted, because behind a proxy all
  /// callers have its address.
  package var connectionsPerAddress = 4_096
  /// Changes that wait in the inbox, of all producers together. One producer may have a share.
  package var inboxChanges = 65_536
  package var inboxBytes = 64 * 1_024 * 1_024
  /// Readers that may wait for a fold, of all users together. One user may have a share.
  package var waitingReaders = 4_096
  /// Reads of the store at the same time: two per core, because some wait for the disk. Not more
  /// than the store itself reads at once, because reads that wait inside the store take no turns.
  package var storeLooks = 2 * max(2, ProcessInfo.processInfo.activeProcessorCount)
  /// How long a request waits for folds and for its turns at the store, together.
  package var answerWithin = Span.seconds(20)
  /// Items that a user may write in a minute, or all at once.
  package var writesPerMinute = 12_000
  /// Failures from one public address. A private or loopback address may have a hundred times as
  /// many, because it may be a proxy of many callers.
  package var failedAuthenticationsPerMinute = 600
  /// Users whose writes are counted, and addresses whose failures are counted. Beyond this number,
  /// those unused for longest are counted anew.
  package var ratedCallers = 100_000
  /// How long a body may take if its sender is known only after the body has arrived.
  package var unverifiedBodySeconds = 10
  /// How long a courier's poll is held before it is answered empty.
  package var courierHoldSeconds = 55
  /// Polls and streams open at the same time.
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

  /// All bodies of one producer that are read at the same time.
  var bodyBytesPerProducer: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// All bodies of one user. The parsed form of a user's body is kept until the answer, and takes
  /// many times as much memory.
  var bodyBytesPerUser: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// All bodies that are read before their sender is known, together; the others count separately.
  var unverifiedBodyBytes: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// All bodies from one address under one key id, before their sender is known.
  var bodyBytesPerClaim: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// Requests of one user or producer under way, until their answers have left. This also bounds
  /// the caller's readers that wait, and its answers that are not read yet. No honest client
  /// has so many.
  var requestsPerCaller: Int { max(16, waitingReaders / 16) }
  /// Reads of the store by one caller. While it has many pages read, others find a place at once.
  var storeLooksPerCaller: Int { max(1, storeLooks / 2) }
  /// Changes of one producer that are taken and not answered yet.
  var changesPerProducer: Int { max(eventsPerRequest, inboxChanges / 2) }
  /// The memory of changes of one producer that are taken and not answered yet.
  var inboxBytesPerProducer: Int { max(1, inboxBytes / 2) }
  var inboxBytesPerUser: Int { max(1, inboxBytes / 8) }
}
