/// Every bound of the core (P11). Nearly all of them are keys of the `limits` table of the
/// configuration, where the consequence of exceeding each bound is documented.
package struct Limits: Hashable, Sendable {
  package var subscriptionsPerUser = 1_000
  /// The bytes of a user's subscriptions, as `Subscription.bytes` counts them. This limit bounds
  /// the memory of the subscriptions and the cost of each of the user's own changes.
  package var subscriptionBytesPerUser = 1 << 20
  package var devicesPerUser = 100
  /// A retired registration is kept at least this long, unless its user has no room for another
  /// device.
  package var retiredFor = Span.days(30)
  /// How long the address of a device that only the courier reaches is valid after its
  /// registration. A fetch after the address has lapsed makes the address valid for this long
  /// again. A device whose address has lapsed, and that is not connected, is retired.
  package var courierAddressFor = Span.hours(12)
  package var participantsPerZone = 10_000
  /// The most zones that each database of a user lists: the private one, and the shared one.
  package var zonesPerUser = 100_000
  package var recordsPerZone = 1_000_000
  /// If a feed has room for at most this many further subjects, the relay reads how full it is
  /// before the relay accepts a change for it. This number is at least what one request may add.
  package var nearlyFull = 10_000
  package var notificationsPerUser = 10_000
  /// Ids in a user's read marks that wait for a fold; repeated ids count each time.
  package var readMarksPerUser = 2_000
  package var pageEntries = 200
  package var payloadBytes = 4_096
  package var valueBytesPerNotification = 1_024
  package var zonesPending = 64
  package var alertsPending = 20
  /// The most fan-outs of each partition: those that run, that wait, or that are still on their way
  /// to the partition.
  package var fanOuts = 100
  /// Messages on their way to other partitions. Above this number, changes that would add a message
  /// are refused.
  package var forwardedMessages = 100_000
  /// The bytes of messages on their way to other partitions and of running fan-outs.
  package var forwardedBytes = 128 << 20
  /// The most users of one slice, which is stepped as one fact. A change for more than a tenth of
  /// this number of users in one partition is sliced.
  package var fanOutSlice = 1_000
  /// Event ids that all partitions remember together.
  package var rememberedIDs = 10_000_000
  package var rememberedFor = Span.days(1)
  package var inFlightPerRoute = 1_000
  /// Polls and streams that may be open at the courier. Each has at most one unread answer.
  package var courierConnections = 50_000
  /// How many missing numbers of producers a zone waits for. Numbers that are skipped above this
  /// bound leave a permanent gap at once.
  package var missingPerZone = 1_000
  package var missingFor = Span.days(1)
  /// A zone has a gap when a number is missing for longer than this.
  package var gapAfter = Span.seconds(30)
  /// For how many records and participants a zone remembers the newest number that came above a
  /// hole. Beyond this bound, the relay gives up the holes of the number space.
  package var settledPerZone = 4_096
  /// Number spaces of a zone. Beyond this number, the least recently used space is forgotten.
  package var sourcesPerZone = 32
  /// Items of feedback kept for one scope; the oldest are trimmed.
  package var feedbackItems = 100_000

  package init() {}
}

/// When wakes go out: the lane's part of the settings.
package struct WakePolicy: Hashable, Sendable {
  /// How long changes gather after the last change.
  package var window = Span(milliseconds: 500)
  /// How long changes gather after the first change, however many follow.
  package var windowMax = Span.seconds(2)
  package var background = Budget.Rule(max: 3, per: .hours(1))
  /// Whether and how the budget `background` applies.
  package var mode = BudgetMode.fixed
  /// Wakes of `background.max` that are kept for urgent subscriptions; less than `background.max`.
  package var reserved = 0
  package var alert = Budget.Rule(max: 60, per: .hours(1))
  /// How long a series of attempts may last. Changes that pend stay pending after the series.
  package var deadline = Span.hours(24)
  package var retryFirst = Span.seconds(1)
  package var retryMax = Span.minutes(5)
  /// The time between two tries of a stopped route.
  package var probe = Span.seconds(30)
  /// How long a device has to acknowledge a wake of the courier before a push repeats the wake.
  package var courierGrace = Span.seconds(5)
  /// When the relay believes a provider that reports many addresses as dead.
  package var pruning = Pruning.Rule()
  /// How the wakes of a hot zone are spread.
  package var smearing = WakePacer.Rule()
  /// Gaps between wakes that the device did not acknowledge. The last gap repeats.
  package var rewake: [Span] = [.minutes(5), .minutes(30), .hours(2), .hours(12), .hours(24)]
  /// The least time between the first and the last of the unanswered wakes that make a device
  /// *silent*.
  package var silentAfter = Span.days(3)

  package init() {}

  package var adapts: Bool { mode == .adaptive }

  /// The most background wakes that a device may get within the time `background.per`.
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
  /// Each device has a number of its own, learnt from the device's answers. A device begins with
  /// the configured number.
  case adaptive
}
