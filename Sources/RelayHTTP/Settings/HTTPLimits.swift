import Foundation
package import RelayCore

/// Bounds of requests, units in the names. Each is documented and has a refusal and a test (P11).
package struct HTTPLimits: Hashable, Sendable {
  package var eventsPerRequest = 1_000
  /// One event's own text in a request.
  package var eventBytes = 1_024 * 1_024
  package var bodyBytes = 4 * 1_024 * 1_024
  /// Bodies that are read at one moment, all together.
  package var bodyBytesInFlight = 256 * 1_024 * 1_024
  /// Operations, zones or lookups of one request.
  package var operationsPerRequest = 200
  /// Answers that are written or wait for their readers, all together.
  package var answerBytesInFlight = 256 * 1_024 * 1_024
  package var answerBytesPerCaller = 8 * 1_024 * 1_024
  /// An answer with so many bytes takes no further subscription.
  package var subscriptionAnswerBytes = 1_024 * 1_024
  /// What the kernel is asked to keep of one connection's answers; it keeps twice as much at most.
  package var sendBufferBytes = 128 * 1_024
  package var pageEntries = 200
  /// Of all pages that one request asks for. Each has one at least, so that it advances.
  package var entriesPerRequest = 1_000
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
  /// Members of the list that a filter compares with.
  package var filterValues = 128
  package var desiredKeys = 3
  /// Fields of a record, and members of their lists, all together: what matching reads of one.
  package var valuesPerRecord = 100_000
  package var connections = 60_000
  /// Of one public address; behind a proxy all callers have its address, so others are not counted.
  package var connectionsPerAddress = 4_096
  /// The inbox, of which a producer has a share.
  package var inboxChanges = 65_536
  package var inboxBytes = 64 * 1_024 * 1_024
  /// Readers that may wait for a fold, of which a user has a share.
  package var waitingReaders = 4_096
  /// Looks into the store at one moment: two a core, because some wait for the disk. Not more than
  /// the store reads at once: what waits there takes no turns.
  package var storeLooks = 2 * max(2, ProcessInfo.processInfo.activeProcessorCount)
  /// How long a request waits for folds and for its turns at the store, together.
  package var answerWithin = Span.seconds(20)
  /// Items that a user may write in a minute, and at once.
  package var writesPerMinute = 12_000
  /// Of one public address; of any other a hundred times as many.
  package var failedAuthenticationsPerMinute = 600
  /// Users whose writes are counted, and addresses whose failures are; beyond, those not heard of
  /// for longest are counted anew.
  package var ratedCallers = 100_000
  /// How long a body may take whose sender is known only once it has come.
  package var unverifiedBodySeconds = 10
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

  /// Of one producer's bodies that are read at one moment.
  var bodyBytesPerProducer: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// Of one user's. What is read of a user's body is kept until the answer, and takes many times as
  /// much memory.
  var bodyBytesPerUser: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// Of bodies that are read before their sender is known, all together; beside the others.
  var unverifiedBodyBytes: Int { max(bodyBytes, bodyBytesInFlight / 8) }
  /// Of those, from one address under one key id.
  var bodyBytesPerClaim: Int { max(bodyBytes, bodyBytesInFlight / 32) }
  /// Requests of one user or producer under way, until their answers have left: more readers cannot
  /// wait for it, and no more of its answers wait to be read. No honest client has so many.
  var requestsPerCaller: Int { max(16, waitingReaders / 16) }
  /// Of one caller: while it has many pages read, others find a place at once.
  var storeLooksPerCaller: Int { max(1, storeLooks / 2) }
  /// Changes of one producer that are taken and not answered.
  var changesPerProducer: Int { max(eventsPerRequest, inboxChanges / 2) }
  /// And what they may take in memory.
  var inboxBytesPerProducer: Int { max(1, inboxBytes / 2) }
  var inboxBytesPerUser: Int { max(1, inboxBytes / 8) }
}
