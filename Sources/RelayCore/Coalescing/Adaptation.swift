/// What the relay observes of a device, for the adaptive budget. Only `learnt` is durable.
package struct Adaptation: Hashable, Sendable {
  package internal(set) var learnt: LearntBudget
  /// When the last background wake was delivered; nil once the device answered.
  private var unansweredSince: Instant?
  /// Wakes in a row that were not answered, the last one included.
  private var silences = 0
  /// The changes that came last.
  var burst = Burst()

  init(_ learnt: LearntBudget) { self.learnt = learnt }

  /// So many wakes were not answered that the device is taken to be away.
  var isAway: Bool { silences >= LearntBudget.awayAfter }

  /// A background wake was delivered.
  ///
  /// - Parameter canAnswer: the device has given a sign before. Only such a device can stay silent.
  mutating func woken(at now: Instant, canAnswer: Bool, _ configured: Budget.Rule) {
    if unansweredSince != nil, canAnswer { learnt.silent(configured) }
    unansweredSince = now
    silences += 1
  }

  /// The device fetched or acknowledged something.
  mutating func answered(at now: Instant, _ spent: Budget, _ configured: Budget.Rule) {
    guard let since = unansweredSince else { return }
    unansweredSince = nil
    silences = 0
    let count = spent.times.count { $0 + configured.per > now }
    learnt.answered(after: now - since, spent: count, configured)
  }
}
