import RelayCore

/// The choices of a seed for a season: users and phones, traffic and faults.
struct SeasonPlan: Sendable {
  var shape: SeasonShape
  var policy: WakePolicy
  var days: Int64 = 30
  var users = 2
  var phonesPerUser = 2
  /// The average time between two changes for a user.
  var gap = Span.hours(1)
  var crashes = 0
  /// The average time between two outages of the provider; nil means no outages.
  var outages: Span?
  /// How many of a thousand pushes Apple answers with 429.
  var busy = 0
  /// How many of a thousand pushes Apple does not answer.
  var unanswered = 0
  /// How many of a thousand phones have their app removed.
  var removals = 0
  /// How many of a thousand wakes that made the app run lead to no fetch.
  var fetchesLost = 20

  /// A small season for checking the promises, under a rule that the seed chooses.
  init(seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x5ea5)
    shape = draw.pick(SeasonShape.allCases)
    let rule = draw.pick([
      SeasonRule.fixed(3), .fixed(1 + draw.below(4)), .adaptive, .adaptive, .signal,
    ])
    policy = rule.policy
    users = draw.from(1...2)
    phonesPerUser = users == 1 ? draw.from(1...2) : 1
    gap = .minutes(Int64(draw.pick([180, 360, 720, 1_440])))
    crashes = draw.below(4)
    chooseFaults()
    if shape == .hotZone { (users, phonesPerUser, gap) = (draw.from(2...4), 1, gap * 2) }
    if draw.below(3) == 0 { (busy, unanswered) = (draw.below(60), draw.below(60)) }
  }

  /// A busier season for comparing rules. Apart from the rule, the season is the same for each
  /// rule.
  init(seed: UInt64, shape: SeasonShape, rule: SeasonRule) {
    var draw = SeededRandom(seed: seed ^ 0xc0de)
    self.shape = shape
    policy = rule.policy
    users = 3
    phonesPerUser = 2
    gap = .minutes(Int64(draw.pick([6, 12, 25, 50])))
    chooseFaults()
    if shape == .hotZone { (users, phonesPerUser) = (10, 1) }
  }

  private mutating func chooseFaults() {
    switch shape {
    case .flapping: (outages, busy, unanswered) = (.hours(8), 30, 20)
    case .deadTokens: removals = 500
    case .steady, .bursts, .night, .hotZone: break
    }
  }

  /// Sets the conditions under which the checkers can find a planted bug.
  mutating func ripen(for mutant: Mutant) {
    switch mutant {
    case .forgetsBudgets: (crashes, gap) = (40, .minutes(4))
    default: gap = .minutes(60)
    }
  }
}
