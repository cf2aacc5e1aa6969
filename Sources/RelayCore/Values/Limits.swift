/// Every bound of the core, with its unit in its name. Each is a documented setting with a refusal
/// and a test (P11).
package struct Limits: Hashable, Sendable {
  package var subscriptionsPerUser = 1_000
  /// Counted as in `Subscription.bytes`. Bounds the memory of a user's subscriptions and the cost
  /// of each of the user's own changes.
  package var subscriptionBytesPerUser = 1 << 20
  package var devicesPerUser = 100
  /// A retired registration is kept at least this long, unless its user has no room for another.
  package var retiredFor = Span.days(30)
  /// How long a courier address is valid for a device without another one. Then it is retired.
  package var courierAddressFor = Span.hours(12)
  package var participantsPerZone = 10_000
  /// Zones that a user's private or shared database lists.
  package var zonesPerUser = 100_000
  package var recordsPerZone = 1_000_000
  /// A feed within this distance of its limit is checked before it takes another subject. This is
  /// at least what one request may add.
  package var nearlyFull = 10_000
  package var notificationsPerUser = 10_000
  /// Ids in a user's read marks that wait for a fold, repeated ones included.
  package var readMarksPerUser = 2_000
  package var pageEntries = 200
  package var payloadBytes = 4_096
  package var valueBytesPerNotification = 1_024
  package var zonesPending = 64
  package var alertsPending = 20
  /// Changes that go on in slices at the same time, in each partition.
  package var fanOuts = 100
  /// Messages on their way to other partitions. Above this, changes that would add one are refused.
  package var forwardedMessages = 100_000
  /// The bytes of these messages and of running fan-outs.
  package var forwardedBytes = 128 << 20
  /// The users of one slice, stepped at once. A change for more than a tenth of them is sliced.
  package var fanOutSlice = 1_000
  /// Event ids that all partitions remember together.
  package var rememberedIDs = 10_000_000
  package var rememberedFor = Span.days(1)
  package var inFlightPerRoute = 1_000
  /// Polls and streams open at the courier, with one unread answer each.
  package var courierConnections = 50_000
  /// Missing numbers of producers that a zone waits for. A number skipped beyond them leaves a gap
  /// at once.
  package var missingPerZone = 1_000
  package var missingFor = Span.days(1)
  /// A zone has a gap when a number is missing for longer than this.
  package var gapAfter = Span.seconds(30)
  /// Records and participants settled above a hole. Beyond this, the relay gives up the hole.
  package var settledPerZone = 4_096
  /// Number spaces of a zone. Beyond this, the least recently used one is forgotten.
  package var sourcesPerZone = 32
  /// Items of feedback kept for one scope; the oldest are trimmed.
  package var feedbackItems = 100_000

  package init() {}
}

/// When wakes go out: the lane's part of the settings.
package struct WakePolicy: Hashable, Sendable {
  /// How long changes gather after the last one.
  package var window = Span(milliseconds: 500)
  /// How long changes gather after the first one, however many follow.
  package var windowMax = Span.seconds(2)
  package var background = Budget.Rule(max: 3, per: .hours(1))
  /// How `background` applies.
  package var mode = BudgetMode.fixed
  /// Wakes of `background.max` that are kept for urgent subscriptions; less than `background.max`.
  package var reserved = 0
  package var alert = Budget.Rule(max: 60, per: .hours(1))
  /// How long a series of attempts may last. What is pending stays after it.
  package var deadline = Span.hours(24)
  package var retryFirst = Span.seconds(1)
  package var retryMax = Span.minutes(5)
  /// A stopped route is tried this often.
  package var probe = Span.seconds(30)
  /// How long a device has to acknowledge what the courier told it before a push follows.
  package var courierGrace = Span.seconds(5)
  /// When the relay believes a provider that reports many addresses as dead.
  package var pruning = Pruning.Rule()
  /// How the wakes of a hot zone are spread.
  package var smearing = WakePacer.Rule()
  /// Gaps between wakes that the device did not acknowledge. The last gap repeats.
  package var rewake: [Span] = [.minutes(5), .minutes(30), .hours(2), .hours(12), .hours(24)]
  /// From the first delivered wake without an answer to the one that makes the device *silent*.
  package var silentAfter = Span.days(3)

  package init() {}

  package var adapts: Bool { mode == .adaptive }

  /// Background wakes that any device may get in `background.per`.
  package var backgroundMost: Int {
    switch mode {
    case .off: .max
    case .fixed: background.max
    case .adaptive: LearntBudget.bounds.upperBound
    }
  }
}

/// Whether background wakes are limited, and by which number.
package enum BudgetMode: String, Hashable, Sendable, CaseIterable {
  /// One wake for each window, without a limit: for providers that ask for no restraint.
  case off
  /// The configured number, for every device.
  case fixed
  /// A number for each device, learnt from its answers; the configured number is the first.
  case adaptive
}
