import RelayCore

/// The branches of the coordinator that a run of seeds has reached, and in how many seeds.
package struct Coverage: Sendable {
  private var seeds: [Branch: Int] = [:]

  package init() {}

  package mutating func add(_ outcome: Simulation.Outcome) {
    for branch in Branch.allCases where outcome.reached.contains(branch) {
      seeds[branch, default: 0] += 1
    }
  }

  /// For each branch that no world reaches, the reason. Tests of the coordinator reach these
  /// branches.
  private static let reasons: [Branch: String] = [
    .valuesLeftOut: "messages carry no large values, since no subscription asks for one",
    .trimmedInParts: "a world has fewer old rows than one trim removes",
    .trimRefused: "the simulated store never refuses a trim",
  ]

  /// A printed summary: the branches with the number of seeds that reached them, and the branches
  /// that no seed reached.
  package var lines: [String] {
    let all = Branch.allCases
    let reached = all.filter { seeds[$0] != nil }
    let counts = reached.map { "\($0) \(seeds[$0] ?? 0)" }
    var lines = [
      "branches of the coordinator: \(reached.count) of \(all.count) reached,"
        + " each in so many seeds: " + counts.joined(separator: ", ")
    ]
    for branch in all where seeds[branch] == nil {
      lines.append("not reached: \(branch): \(Self.reasons[branch] ?? "no reason is known")")
    }
    return lines
  }
}
