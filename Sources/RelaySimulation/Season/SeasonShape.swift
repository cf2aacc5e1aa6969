import RelayCore

/// How changes come, and which faults a season has.
package enum SeasonShape: String, CaseIterable, Sendable {
  /// Changes now and then, at any hour.
  case steady
  /// Hours without changes, then many within minutes.
  case bursts
  /// Changes by day, and a twentieth as many an hour at night.
  case night
  /// One zone that all users share.
  case hotZone = "hot-zone"
  /// Steady changes, with a provider that has outages, answers 429, and sometimes does not answer.
  case flapping
  /// Steady changes, with apps that are removed and installed again.
  case deadTokens = "dead-tokens"
}

/// A rule for background wakes that seasons compare.
package enum SeasonRule: Hashable, Sendable {
  /// At most this many wakes in any hour.
  case fixed(Int)
  /// At most one wake in this many minutes; Signal's servers use 20.
  case spaced(Int)
  /// A number of wakes an hour for each device, which the relay adapts, starting from three.
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
