/// What a device's answers have shown of its background budget, where the setting adapts. A device
/// that answers its wakes quickly may get more of them; one that stays silent gets fewer.
///
/// Apple names no figure that holds for every device. Apple advises two or three an hour, gives
/// more to apps in use, and nothing to apps that were force-quit. The relay can only observe the
/// delay from a push to the device's next fetch.
///
/// ```
/// quick answer, and the budget was used up ─▶ one more   (an unused budget teaches nothing)
/// quick answer, below what is configured   ─▶ one more
/// no answer before the next wake           ─▶ half as many, but at least Apple's two
/// no answer to six in a row                ─▶ one, until there is an answer: the device is
///                                             unused, or its app was force-quit
/// ```
package struct LearntBudget: Hashable, Sendable {
  /// Wakes in the rule's `per`.
  package static let bounds = 1...12
  /// An answer within this time shows that the wake ran at once.
  package static let quick = Span.minutes(1)

  /// Apple's advice is two or three. Fewer gain nothing where the app can run at all, because the
  /// next change then waits for a whole gap.
  package static let leastAnswered = 2
  /// After this many wakes in a row without an answer the device counts as away.
  package static let awayAfter = 6

  /// 0: nothing was learnt yet, and the configured number applies.
  package private(set) var max: Int

  package init(max: Int = 0) {
    self.max = max == 0 ? 0 : Self.bound(max)
  }

  package func rule(_ configured: Budget.Rule) -> Budget.Rule {
    Budget.Rule(max: Self.bound(max == 0 ? configured.max : max), per: configured.per)
  }

  /// The device fetched or acknowledged this long after a wake.
  ///
  /// - Parameter spent: wakes of the last stretch, including that one.
  mutating func answered(after delay: Span, spent: Int, _ configured: Budget.Rule) {
    let now = rule(configured).max
    guard delay <= Self.quick, now < configured.max || spent >= now else { return }
    max = Self.bound(now + 1)
  }

  /// Another wake went out before the device answered the last one.
  mutating func silent(_ configured: Budget.Rule) {
    let now = rule(configured).max
    max = Swift.max(now / 2, Swift.min(now, Self.leastAnswered))
  }

  private static func bound(_ max: Int) -> Int {
    Swift.min(Swift.max(max, bounds.lowerBound), bounds.upperBound)
  }
}
