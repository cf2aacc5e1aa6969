import RelayCore

/// How many explanations a run has checked, and which outcomes they had.
package struct ExplanationCounts: Sendable {
  private var outcomes: [String: Int] = [:]
  /// The explanations for which the world knew the outcome (`exact`), and those for which it knew
  /// only that the outcome is one of a few (`among`).
  package private(set) var exact = 0
  package private(set) var among = 0
  private var unclear = 0

  package init() {}

  package var compared: Int { exact + among }

  mutating func told(_ outcome: String) { outcomes[outcome, default: 0] += 1 }
  mutating func compared(isExact: Bool) { if isExact { exact += 1 } else { among += 1 } }
  mutating func isUnclear() { unclear += 1 }

  package static func + (left: ExplanationCounts, right: ExplanationCounts) -> ExplanationCounts {
    var sum = left
    sum.outcomes.merge(right.outcomes, uniquingKeysWith: +)
    sum.exact += right.exact
    sum.among += right.among
    sum.unclear += right.unclear
    return sum
  }

  /// Reasons that no explanation gave.
  package var missing: [String] { Explanation.Reason.codes.filter { outcomes[$0] == nil } }

  /// A printed summary: each outcome with its number, and the reasons that were not reached.
  package var lines: [String] {
    let counts = (["woken"] + Explanation.Reason.codes + ["unknown"])
      .compactMap { name in outcomes[name].map { "\(name) \($0)" } }
    var lines = [
      "explanations: \(exact) as the world knew, \(among) among what it allowed, "
        + "\(unclear) not compared: " + counts.joined(separator: ", ")
    ]
    lines += missing.map { "not reached: \($0)" }
    return lines
  }
}
