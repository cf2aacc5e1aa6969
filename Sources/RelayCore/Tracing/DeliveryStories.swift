/// The notifications of one change on one lane, each followed through the entries.
///
/// A match on the lane looks only at the notifications that it can mean, because a user may have
/// thousands of subscriptions that each make an entry for each change.
struct DeliveryStories {
  private(set) var all: [DeliveryStory] = []
  /// How many of them still wait for what becomes of them.
  private(set) var waiting = 0
  /// How often a story has looked at an entry: what the explanation costs beside reading.
  private(set) var looks = 0
  private var atPosition: [Position: Int] = [:]
  /// The stories that have pended as this alert, or do.
  private var asAlert: [Identifier: [Int]] = [:]

  /// Adds a notification, unless a replay has made its entry again.
  mutating func add(_ match: TracedMatch, as part: TracedPart) {
    guard atPosition[match.position] == nil else { return }
    atPosition[match.position] = all.count
    if case .alert(let shown) = part { asAlert[shown, default: []].append(all.count) }
    all.append(DeliveryStory(match, as: part))
    waiting += 1
  }

  mutating func began() { for index in all.indices { look(index) { $0.began() } } }

  mutating func lost() { for index in all.indices { look(index) { $0.lost() } } }

  /// A notification came to the lane.
  mutating func matched(_ match: TracedMatch, _ outcome: TracedMatch.Outcome) {
    guard case .pends(let part, _, let instead) = outcome else { return }
    if let index = atPosition[match.position] { look(index) { $0.matched(match, outcome) } }
    switch instead {
    case nil: break
    case .crowdsOut(let older):
      for index in asAlert[older] ?? [] { look(index) { $0.matched(match, outcome) } }
    case .replaces(let older):
      let older = asAlert[older] ?? []
      for index in older { look(index) { $0.matched(match, outcome) } }
      if case .alert(let newer) = part, !older.isEmpty { remember(older, as: newer) }
    }
  }

  private mutating func remember(_ stories: [Int], as alert: Identifier) {
    let known = asAlert[alert] ?? []
    asAlert[alert] = known + stories.filter { !known.contains($0) }
  }

  /// - Returns: whether the event changed what is known of any of them.
  mutating func note(_ event: DeviceEvent, at: Instant) -> Bool {
    switch event {
    case .registered, .waits, .waitsForConnection: return false
    case .unregistered, .retired, .wake, .ended, .receipt, .withdrawn, .hushed: break
    }
    var isNews = false
    for index in all.indices {
      let (state, hadReceipt) = (all[index].state, all[index].receipt != nil)
      look(index) { $0.note(event, at: at) }
      if state != all[index].state || hadReceipt != (all[index].receipt != nil) { isNews = true }
    }
    return isNews
  }

  private mutating func look(_ index: Int, _ change: (inout DeliveryStory) -> Void) {
    looks += 1
    let before = all[index].isWaiting
    change(&all[index])
    waiting += (all[index].isWaiting ? 1 : 0) - (before ? 1 : 0)
  }
}

extension DeliveryStory {
  var isWaiting: Bool {
    switch state {
    case .pending, .flying, .unknown: true
    case .told, .ended: false
    }
  }
}
