/// What the relay observes of a device, for the adaptive budget. Only `learnt` is durable.
package struct Adaptation: Hashable, Sendable {
  package internal(set) var learnt: LearntBudget
  /// When the last background push was delivered, if the device has not answered that push;
  /// otherwise `nil`.
  private var unansweredSince: Instant?
  /// How many wakes in a row the device has not answered, including the last wake.
  private var silences = 0
  /// The newest burst of changes for the device.
  var burst = Burst()

  init(_ learnt: LearntBudget) { self.learnt = learnt }

  /// Whether the device has left so many wakes unanswered that it counts as away.
  var isAway: Bool { silences >= LearntBudget.awayAfter }

  /// A background wake was delivered.
  ///
  /// - Parameter canAnswer: whether the device has acknowledged anything before. Only then does a
  ///   missing answer lower the budget.
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
