import ArgumentParser
import Foundation
import RelayCore

/// Measures the core's part of goal S11 (docs/performance.md): the cost of a change among a million
/// query subscriptions, relative to its cost among a thousand; and the cost of each subscriber of a
/// wide change.
struct MatchBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "S11: a change among a million query subscriptions, beside one among a thousand.")

  let bench: Workbench
  /// The larger number of subscriptions: 1,000,000, or a tenth with `--quick`.
  private var many: Int { bench.options.amount(1_000_000) }
  private var changes: Int { bench.options.amount(50_000) }

  private static let few = 1_000
  private static let wideFew = 10_000

  func run() async throws -> [Figure] { try narrow() + wide() }

  /// Measures changes that match four subscriptions each.
  private func narrow() throws -> [Figure] {
    var (ours, reference): ([Double], [Double]) = ([], [])
    var small = MatchScene(subscriptions: Self.few, seed: 1)
    let start = try CPUTime.ofThisProcess()
    var large = MatchScene(subscriptions: many, seed: 2)
    let load = (try CPUTime.ofThisProcess() - start).each(of: 1_000_000)
    for round in 1...bench.options.pairCount {
      reference.append(try cost(&small))
      ours.append(try cost(&large))
      Talk.line("S11 \(round): \(text(ours[round - 1])) and \(text(reference[round - 1])) µs")
    }
    return [
      Figure(
        "S11", "core CPU a change, \(many) subscriptions", unit: "µs", ours: ours,
        reference: "with \(Self.few)", reference, floor: 3, aim: 1.5),
      Figure("S11", "CPU to load them", unit: "s", ours: [load]),
    ]
  }

  private func cost(_ scene: inout MatchScene) throws -> Double {
    let changes = scene.changes(self.changes)
    let start = try CPUTime.ofThisProcess()
    let fired = scene.step(changes)
    let cost = (try CPUTime.ofThisProcess() - start).each(of: changes.count)
    // Each change fires four subscriptions, but a record that changes twice between two folds
    // yields one entry for both changes. So this check only asks for more entries than changes.
    guard fired > changes.count, scene.partition.ledger.isBalanced else {
      throw BenchError("\(fired) notifications for \(changes.count) changes: some did not fire")
    }
    return cost
  }

  /// Measures changes that match every subscription.
  private func wide() throws -> [Figure] {
    var results: [Bool: (ours: [Double], reference: [Double])] = [:]
    var small = WideScene(subscriptions: Self.wideFew)
    var large = WideScene(subscriptions: many)
    for _ in 1...bench.options.pairCount {
      for removing in [false, true] {
        let few = try cost(&small, Self.wideFew, removing: removing)
        let all = removing ? Self.wideFew : many
        let much = try cost(&large, all, removing: removing)
        results[removing, default: ([], [])].ours.append(much)
        results[removing, default: ([], [])].reference.append(few)
      }
    }
    return [(false, "CPU a subscriber of a wide change"), (true, "the same, firing once")].map {
      let result = results[$0] ?? ([], [])
      return Figure(
        "S11", "\($1), \(many)", unit: "µs", ours: result.ours,
        reference: "with \(Self.wideFew)", result.reference)
    }
  }

  private func cost(
    _ scene: inout WideScene, _ count: Int, removing: Bool
  ) throws -> Double {
    let start = try CPUTime.ofThisProcess()
    let reached = scene.reach(count, removing: removing)
    let cost = (try CPUTime.ofThisProcess() - start).each(of: reached)
    guard reached == count else {
      throw BenchError("\(reached) of \(count) subscribers were reached")
    }
    if removing { scene.restore(count) }
    return cost
  }

  private func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
