import RelayCore

/// An index whose subscriptions all match one change: half have a filter, half have none.
struct WideScene {
  private var index = SubscriptionIndex()
  private let change = MatchScene.change(1, by: MatchScene.author(1))

  init(subscriptions count: Int) {
    for number in 0..<count { save(number) }
  }

  private mutating func save(_ number: Int) {
    let serial = Position(Ordinal(UInt64(number + 1)))
    let author = number.isMultiple(of: 2) ? MatchScene.author(1) : nil
    index.save(
      SubscriptionIndex.Held(
        serial: serial, subscription: MatchScene.subscription(asking: author)),
      of: number, in: MatchScene.scope)
  }

  /// Runs one fan-out from its beginning, slice by slice, up to `count` subscribers.
  ///
  /// - Parameter removing: if true, each subscription that fired is removed, as the relay does with
  ///   subscriptions that fire once.
  /// - Returns: how many subscribers were reached.
  mutating func reach(_ count: Int, removing: Bool) -> Int {
    var (cursor, reached) = (Position.zero, 0)
    while reached < count {
      let page = index.publicMatches(
        change, after: cursor, before: Ordinal(.max >> 16), limit: 1_000)
      reached += page.hits.count
      if removing {
        for hit in page.hits {
          index.remove(serial: hit.held.serial, of: hit.user, in: MatchScene.scope)
        }
      }
      guard let next = page.next else { break }
      cursor = next
    }
    return reached
  }

  /// Restores the first `count` subscriptions after `reach` has removed them.
  mutating func restore(_ count: Int) {
    for number in 0..<count { save(number) }
  }
}
