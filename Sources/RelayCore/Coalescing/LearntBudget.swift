/// The background budget that the relay has learnt from a device's answers, if the setting adapts.
/// A device that answers its wakes quickly may get more wakes; a silent device gets fewer.
///
/// Apple names no figure that holds for every device. Apple advises two or three an hour, gives
/// more to apps in use, and nothing to apps that were force-quit. The relay can only observe the
/// delay from a push to the device's next fetch.
///
/// ```
/// quick answer, and the budget was used up ─▶ one wake more
/// quick answer, learnt < configured number ─▶ one wake more
/// no answer before the next wake           ─▶ half as many, but at least Apple's two
/// no answer to six wakes in a row          ─▶ one wake, until the device answers: the device is
///                                             unused, or its app was force-quit
/// ```
package struct LearntBudget: Hashable, Sendable {
  /// The least and the greatest number of wakes in a stretch of the rule's `per`.
  package static let bounds = 1...12
  /// An answer within this time shows that the wake ran the app at once.
  package static let quick = Span.minutes(1)

  /// Missing answers do not lower the budget below this number. Apple advises two or three wakes an
  /// hour; with one wake, the next change would wait for a whole hour.
  package static let leastAnswered = 2
  /// After this many wakes in a row without an answer the device counts as away.
  package static let awayAfter = 6

  /// The learnt number of wakes. 0 means that nothing was learnt yet and the configured number
  /// applies.
  package private(set) var max: Int

  package init(max: Int = 0) {
    self.max = max == 0 ? 0 : Self.bound(max)
  }

  package func rule(_ configured: Budget.Rule) -> Budget.Rule {
    Budget.Rule(max: Self.bound(max == 0 ? configured.max : max), per: configured.per)
  }

  /// The device fetched or acknowledged something, at the time `delay` after a wake was delivered.
  ///
  /// - Parameter spent: the number of wakes in the last stretch, including the answered wake.
  mutating func answered(after delay: Span, spent: Int, _ configured: Budget.Rule) {
    let now = rule(configured).max
    guard delay <= Self.quick, now < configured.max || spent >= now else { return }
    max = Self.bound(now + 1)
  }

  /// A second wake was delivered before the device answered the first.
  mutating func silent(_ configured: Budget.Rule) {
    let now = rule(configured).max
    max = Swift.max(now / 2, Swift.min(now, Self.leastAnswered))
  }

  private static func bound(_ max: Int) -> Int {
    Swift.min(Swift.max(max, bounds.lowerBound), bounds.upperBound)
  }
}
