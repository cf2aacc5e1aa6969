import RelayCore

/// How changes come, and what else befalls a season.
package enum SeasonShape: String, CaseIterable, Sendable {
  /// At any hour, now and then.
  case steady
  /// Hours of quiet, then many within minutes.
  case bursts
  /// By day; at night a twentieth of it.
  case night
  /// One zone that everybody shares.
  case hotZone = "hot-zone"
  /// Steady, and a provider with outages, 429 and answers that never come.
  case flapping
  /// Steady, and apps that are removed and installed again.
  case deadTokens = "dead-tokens"
}

/// A rule by which background wakes are given, as a season compares them.
package enum SeasonRule: Hashable, Sendable {
  /// At most so many in any hour.
  case fixed(Int)
  /// At most one in so many minutes; Signal's servers take 20.
  case spaced(Int)
  /// Each device teaches its own number, beginning with three an hour.
  case adaptive

  package static let signal = SeasonRule.spaced(20)

  package var name: String {
    switch self {
    case .fixed(let max): "fixed, \(max) an hour"
    case .spaced(20): "Signal's, one in 20 min"
    case .spaced(let minutes): "one in \(minutes) min"
    case .adaptive: "adaptive"
    }
  }

  var policy: WakePolicy {
    var policy = WakePolicy()
    switch self {
    case .fixed(let max): policy.background = Budget.Rule(max: max, per: .hours(1))
    case .spaced(let minutes):
      policy.background = Budget.Rule(max: 1, per: .minutes(Int64(minutes)))
    case .adaptive: policy.mode = .adaptive
    }
    return policy
  }
}
