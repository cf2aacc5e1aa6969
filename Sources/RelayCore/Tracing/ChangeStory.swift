import OrderedCollections

/// Follows one change through the entries, as far as it concerns one device.
struct ChangeStory {
  let change: TracedChange
  /// When the change was stepped in its home.
  let begun: Instant
  let standing: Standing
  private(set) var targets: [PartitionID] = []
  /// Where the change reached the partition of the device's user; `nil` means that it has not.
  private(set) var reached: Ordinal?
  /// Whether slices of the change are still to come in the partition of the device's user;
  /// `hasSpread` means that the last slice was stepped there.
  private(set) var isSpreading = false
  private(set) var hasSpread = false
  /// When the last slice was stepped.
  private(set) var spreadAt: Instant?
  private(set) var deliveries = DeliveryStories()
  /// Whether the change fired a subscription of the user, for any device.
  private(set) var hasFired = false
  private(set) var isOwn = false
  private(set) var isRetired = false
  private(set) var hasLost = false
  private(set) var userEvents: [(event: UserEvent, at: Instant)] = []
  private(set) var registrations: [(event: DeviceEvent, at: Instant)] = []
  /// The entries to tell. A replay may have made an entry twice, but the set holds each entry once.
  private var story: OrderedSet<TraceEntry> = []

  /// How many entries a story has at most.
  static let storyMax = 1_000

  init(_ change: TracedChange, at begun: Instant, for standing: Standing) {
    (self.change, self.begun, self.standing) = (change, begun, standing)
    if change.place.partition == home, change.isOwnersOf(standing.device.user) {
      reached = change.place.ordinal
    }
  }

  /// The partition of the device's user.
  var home: PartitionID { .home(of: standing.device.user, in: standing.device.scope) }

  /// - Parameter isOfLaterChange: whether a later change with the same notification id was stepped
  ///   before this entry was made.
  mutating func note(_ entry: TraceEntry, isOfLaterChange: Bool) {
    switch entry.event {
    case .began: deliveries.began()
    case .lost:
      hasLost = true
      deliveries.lost()
    // A replay makes this entry again, and only the first one is told.
    case .change(let other):
      if other.place == change.place, story.isEmpty { tell(entry) }
    case .moved(let move):
      guard !isOfLaterChange, move.notification == change.notification else { return }
      moved(move, entry)
    case .matched(let match): matched(match, entry, isOfLaterChange: isOfLaterChange)
    case .device(standing.device, let event): note(event, entry)
    case .user(let user, let event):
      guard user.user == standing.device.user, user.scope == standing.device.scope else { return }
      userEvents.append((event, entry.at))
    case .route(let route, _):
      if route.scope == standing.device.scope, deliveries.isWaiting { tell(entry) }
    case .device: break
    }
  }

  private mutating func tell(_ entry: TraceEntry) {
    if story.count < Self.storyMax { story.append(entry) }
  }

  private mutating func moved(_ move: TracedMove, _ entry: TraceEntry) {
    switch move.step {
    case .forwarded(let partitions): targets = partitions
    case .reached where move.place.partition == home: reached = move.place.ordinal
    case .spreading where move.place.partition == home: isSpreading = true
    case .spread where move.place.partition == home:
      (isSpreading, hasSpread, spreadAt) = (false, true, entry.at)
    case .reached, .spreading, .spread: return
    }
    tell(entry)
  }

  private mutating func matched(
    _ match: TracedMatch, _ entry: TraceEntry, isOfLaterChange: Bool
  ) {
    let key = standing.device
    guard match.user.user == key.user, match.user.scope == key.scope else { return }
    let outcome = match.devices.first { $0.client == key.client }?.outcome
    if let outcome { deliveries.matched(match, outcome) }
    guard match.notification == change.notification, !isOfLaterChange else { return }
    hasFired = true
    switch outcome {
    case nil: return
    case .own: isOwn = true
    case .retired: isRetired = true
    case .pends(let part, _, _): deliveries.add(match, as: part)
    }
    tell(entry)
  }

  private mutating func note(_ event: DeviceEvent, _ entry: TraceEntry) {
    switch event {
    case .registered, .unregistered: registrations.append((event, entry.at))
    case .retired, .waits, .waitsForConnection, .wake, .ended, .receipt, .withdrawn, .hushed: break
    }
    let wasWaiting = deliveries.isWaiting
    let isNews = deliveries.note(event, at: entry.at)
    if wasWaiting || isNews { tell(entry) }
  }

  func explanation() -> Explanation {
    Explanation(
      change: change, device: standing.device, outcome: outcome,
      deliveries: deliveries.all.map { $0.delivery(standing) },
      story: story.filter(concernsRoute))
  }

  private var outcome: Explanation.Outcome {
    let outcomes = deliveries.all.map { $0.outcome(standing) }
    // The delivery that came furthest decides the outcome.
    if let best = outcomes.min(by: { $0.rank < $1.rank }) { return best }
    if isOwn { return .not(.ownChange) }
    if isRetired { return .not(.retired(retirement)) }
    return absence
  }
}

extension ChangeStory {
  /// Whether the story tells the entry: entries about routes other than the device's own are left
  /// out. If the device was registered meanwhile, the device may have had another route before, so
  /// the story tells entries about all routes.
  private func concernsRoute(_ entry: TraceEntry) -> Bool {
    guard case .route(let route, _) = entry.event, registrations.isEmpty,
      let registration = standing.registration
    else { return true }
    return route.transport == registration.transport && route.topic == registration.topic
  }

  /// Why the device was retired. A retirement ends when the app registers the device again, or when
  /// the registration is removed: by the app, or by the relay before it registers another device of
  /// the user. After that, the relay knows only whether the device was registered again or the
  /// registration was removed.
  private var retirement: String {
    guard let registration = standing.registration else { return "unregistered since" }
    return registration.retirement?.reason ?? "registered anew since"
  }
}

extension Explanation.Outcome {
  /// The order of outcomes: the further a delivery came, the lower is the rank of its outcome.
  fileprivate var rank: Int {
    switch self {
    case .woken: 0
    case .not(.underWay): 1
    case .not(.toldByCourier): 2
    case .not(.alreadyTold): 3
    case .unknown: 4
    case .not(.fetched): 6
    case .not(.rejected): 7
    case .not(.withdrawn): 8
    case .not(.retired), .not(.unregistered): 9
    // This alert gave way to a newer alert. If the newer alert is of the same change, the delivery
    // of the newer alert came further.
    case .not(.crowdedOut): 10
    case .not: 5
    }
  }
}

extension DeliveryStory {
  fileprivate func delivery(_ standing: Standing) -> Explanation.Delivery {
    var told: Instant?
    if case .told(let wake) = state { told = wake.at }
    return Explanation.Delivery(
      subscription: match.subscription, outcome: outcome(standing), told: told,
      receipt: receipt?.0, receiptAt: receipt?.at)
  }
}

extension TracedChange {
  /// Whether the change is stepped for this user in the change's home, because the user owns the
  /// zone.
  func isOwnersOf(_ user: UserID) -> Bool { database != .public && zone.owner == user }
}
