/// What a device taught us of its background budget, where the setting adapts: a device that
/// answers a wake quickly may get more of them, one that stays silent gets fewer.
///
/// Apple names no figure that holds for every device: it advises two or three an hour, gives more
/// to apps in use and nothing to those that were force-quit. The delay from a push to what the
/// device fetches after it is all that can be seen of it from here.
package struct LearntBudget: Hashable, Sendable {
  /// Wakes in the rule's stretch of time.
  package static let bounds = 1...12
  /// Answered within it: the wake ran at once.
  package static let quick = Span.minutes(1)

  /// 0: nothing learnt yet, the configured number counts.
  package private(set) var max: Int

  package init(max: Int = 0) {
    self.max = max == 0 ? 0 : Self.bound(max)
  }

  package func rule(_ configured: Budget.Rule) -> Budget.Rule {
    Budget.Rule(max: Self.bound(max == 0 ? configured.max : max), per: configured.per)
  }

  /// The device fetched or acknowledged so long after a wake.
  mutating func answered(after delay: Span, _ configured: Budget.Rule) {
    guard delay <= Self.quick else { return }
    max = Self.bound(rule(configured).max + 1)
  }

  /// Another wake went out, and the one before was never answered.
  mutating func silent(_ configured: Budget.Rule) {
    max = Self.bound(rule(configured).max - 1)
  }

  private static func bound(_ max: Int) -> Int {
    Swift.min(Swift.max(max, bounds.lowerBound), bounds.upperBound)
  }
}
