/// The notifications of one change on one lane: a `DeliveryStory` for each subscription that the
/// change fired.
///
/// For each entry, only the deliveries that the entry can concern are examined, because a user may
/// have a thousand subscriptions. For a match, these are the deliveries at the match's position and
/// those of the older alert that gives way to the match's alert. For an alert that does not fit
/// into a push, these are the deliveries of that alert. For any other event of the device, these
/// are the deliveries that are not settled.
struct DeliveryStories {
  /// In the order of the matches.
  private(set) var all: [DeliveryStory] = []
  /// How many times a delivery was looked at: the cost of the explanation.
  private(set) var looks = 0
  /// How many deliveries are not told and not ended.
  private var waiting = 0
  private var places: [Position: Int] = [:]
  /// For each alert, the indices of the deliveries that pend or once pended as this alert.
  private var shown: [TracedAlert: [Int]] = [:]
  /// How many of an older alert's deliveries in `shown` were examined already because a newer alert
  /// replaced the older alert. The next match with the same two alerts examines only the rest.
  /// `crowded` counts the same for an older alert that gave way to alerts with other keys.
  private var carried: [Replacement: Int] = [:]
  private var crowded: [TracedAlert: Int] = [:]
  private var unsettled: [Int] = []
  private var isUnsettled: [Bool] = []

  private struct Replacement: Hashable {
    var older: TracedAlert
    var part: TracedPart
  }

  var isWaiting: Bool { waiting > 0 }

  /// A subscription fired, or fired again in a replay.
  mutating func add(_ match: TracedMatch, as part: TracedPart) {
    guard places[match.position] == nil else { return }
    let index = all.count
    places[match.position] = index
    all.append(DeliveryStory(match, as: part))
    isUnsettled.append(true)
    unsettled.append(index)
    waiting += 1
    show(index, as: part)
  }

  mutating func began() { changeAll { $0.began() } }

  mutating func lost() { changeAll { $0.lost() } }

  /// A notification came to the lane.
  mutating func matched(_ match: TracedMatch, _ outcome: TracedMatch.Outcome) {
    guard case .pends(let part, _, let instead) = outcome else { return }
    if let index = places[match.position] {
      change(index) { $0.matched(match, outcome) }
      repeated(index, as: part)
    }
    if let older = instead.replaced { replaced(older, by: match, outcome, as: part) }
    if let older = instead.crowdedOut { crowdedOut(older, by: match, outcome) }
  }

  /// - Returns: whether the event tells something new of a delivery.
  mutating func note(_ event: DeviceEvent, at: Instant) -> Bool {
    if case .hushed(let alert, let part) = event {
      for index in shown[alert] ?? [] {
        change(index) { $0.note(event, at: at) }
        show(index, as: part)
      }
      return false
    }
    var isNews = false
    let before = unsettled
    unsettled.removeAll(keepingCapacity: true)
    for index in before {
      if change(index, { $0.note(event, at: at) }) { isNews = true }
      settle(index)
    }
    return isNews
  }

  /// A replay repeated the match. The notification may pend again, perhaps in another part of the
  /// lane than before (`TracedPart`). The counts in `carried` no longer hold: the next match
  /// examines all deliveries of the alert that it replaces.
  private mutating func repeated(_ index: Int, as part: TracedPart) {
    carried = [:]
    show(index, as: part)
    guard !isUnsettled[index] else { return }
    isUnsettled[index] = true
    unsettled.append(index)
  }

  /// Each match of a newer change may replace the same alert. The deliveries of that alert are
  /// examined only at the first such match.
  private mutating func replaced(
    _ older: TracedAlert, by match: TracedMatch, _ outcome: TracedMatch.Outcome, as part: TracedPart
  ) {
    guard let indices = shown[older], part != .alert(older) else { return }
    let done =
      carried.updateValue(
        indices.count, forKey: Replacement(older: older, part: part)) ?? 0
    for index in indices[min(done, indices.count)...] where !all[index].pends(as: part) {
      change(index) { $0.matched(match, outcome) }
      if all[index].pends(as: part) { show(index, as: part) }
    }
  }

  /// The older alert gives way to a newer alert. Deliveries of the older alert end if they are
  /// pending.
  private mutating func crowdedOut(
    _ older: TracedAlert, by match: TracedMatch, _ outcome: TracedMatch.Outcome
  ) {
    guard let indices = shown[older] else { return }
    let done = crowded.updateValue(indices.count, forKey: older) ?? 0
    for index in indices[min(done, indices.count)...] {
      change(index) { $0.matched(match, outcome) }
    }
  }

  private mutating func show(_ index: Int, as part: TracedPart) {
    if case .alert(let alert) = part { shown[alert, default: []].append(index) }
  }

  private mutating func changeAll(_ change: (inout DeliveryStory) -> Void) {
    unsettled.removeAll(keepingCapacity: true)
    for index in all.indices {
      self.change(index, change)
      settle(index)
    }
  }

  private mutating func settle(_ index: Int) {
    isUnsettled[index] = !all[index].isSettled
    if isUnsettled[index] { unsettled.append(index) }
  }

  /// - Returns: whether the delivery's state changed, or its first receipt came.
  @discardableResult
  private mutating func change(
    _ index: Int, _ change: (inout DeliveryStory) -> Void
  ) -> Bool {
    looks += 1
    let (state, hadReceipt) = (all[index].state, all[index].receipt != nil)
    change(&all[index])
    let now = all[index].state
    guard now != state else { return hadReceipt != (all[index].receipt != nil) }
    waiting += (now.isWaiting ? 1 : 0) - (state.isWaiting ? 1 : 0)
    if now == .pending { crowded = [:] }
    return true
  }
}

extension DeliveryStory.State {
  /// Whether the notification is neither told nor ended, as far as is known.
  fileprivate var isWaiting: Bool {
    switch self {
    case .pending, .flying, .unknown: true
    case .told, .ended: false
    }
  }
}
