import ArgumentParser
import Foundation
import Logging
import RelaySystem
import RelayTrace

/// Measures what the flight recorder costs (docs/performance.md): the CPU time from an event to its
/// push with the recorder and without it, first in the core alone, then in daemons side by side.
struct RecorderBench: Measurement {
  static let configuration = CommandConfiguration(
    commandName: "recorder",
    abstract: "What the flight recorder costs a push: a daemon with it beside one without.")

  let bench: Workbench
  /// The number of events of one measurement of a daemon.
  private var events: Int { bench.options.amount(4_000) }
  /// The number of events of a measurement in this process.
  private var coreEvents: Int { bench.options.amount(2_000) }
  private static let coreRounds = 20
  /// The most pairs for the core alone, whose cost varies little; only the daemons get more pairs.
  /// A pair is a run with the recorder and a run without it.
  private static let corePairs = 5
  /// The ratio of the cost with the recorder to the cost without it: the ratio that is accepted,
  /// and the ratio that is aimed at.
  private static let (floor, aim) = (1.03, 1.01)

  func run() async throws -> [Figure] { try await core() + daemons() }

  // MARK: In this process

  /// Measures the core alone: the cost of its decisions, and of what the recorder writes of them.
  private func core() async throws -> [Figure] {
    var figures: [Figure] = []
    for turn in [10, 1_000] {
      var (on, off): ([Double], [Double]) = ([], [])
      for _ in 0..<min(Self.corePairs, bench.options.pairCount) {
        let (with, without) = try await core(turn: turn)
        on.append(Spread(with).median)
        off.append(Spread(without).median)
      }
      let differences = zip(on, off).map { $0 - $1 }
      Talk.line(
        String(
          format: "in the core, turns of \(turn): the recorder costs %.1f µs an event",
          Spread(differences).median))
      figures.append(
        Figure(
          "F", "core CPU an event to its push, recorder on, turns of \(turn)", unit: "µs", ours: on,
          reference: "off", off))
    }
    return figures
  }

  private func core(turn: Int) async throws -> (on: [Double], off: [Double]) {
    let recorder = FileRecorder(
      directory: try bench.emptyDirectory("recorder").path, bytes: 64 << 20,
      clock: SystemClock(), logger: Logger(label: "recorder"))
    recorder.begin(life: 1)
    let users = Self.coreRounds * coreEvents
    var with = RecorderScene(users: users, turn: turn, recorder: recorder)
    var without = RecorderScene(users: users, turn: turn, recorder: nil)
    var (on, off): ([Double], [Double]) = ([], [])
    for round in 0..<Self.coreRounds {
      let costs = try await inTurn(isOursFirst: round.isMultiple(of: 2)) {
        try cost(&with)
      } reference: {
        try cost(&without)
      }
      on.append(costs.ours)
      off.append(costs.reference)
    }
    await recorder.close()
    return (on, off)
  }

  private func cost(_ scene: inout RecorderScene) throws -> Double {
    let start = try CPUTime.ofThisProcess()
    let pushes = scene.run(coreEvents)
    // The recorder writes during this sleep, and not while the core without it is measured.
    if scene.isRecorded { usleep(300_000) }
    let cost = (try CPUTime.ofThisProcess() - start).each(of: coreEvents)
    guard pushes == coreEvents else {
      throw BenchError("\(pushes) pushes for \(coreEvents) changes")
    }
    return cost
  }

  // MARK: Daemons

  private func daemons() async throws -> [Figure] {
    var costs: [RecorderPair.Posting: [RecorderPair.Costs]] = [:]
    var (on, off): ([Double], [Double]) = ([], [])
    for round in 1...bench.options.pairCount {
      let pair = try await RecorderPair.start(
        bench, events: events, isOnFirst: !round.isMultiple(of: 2))
      let result = try await pair.run()
      for (posting, cost) in result { costs[posting, default: []].append(cost) }
      let memory = try pair.memory()
      on.append(memory.on)
      off.append(memory.off)
      try await pair.end()
      let ratios = RecorderPair.Posting.allCases.map { posting in
        String(format: "%.3f \(posting.name)", Spread(result[posting]?.ratios ?? [0]).median)
      }
      Talk.line("recorder \(round): on against off \(ratios.joined(separator: ", "))")
    }
    let figures = RecorderPair.Posting.allCases.map { figure(costs[$0] ?? [], $0) }
    return figures + [
      Figure(
        "F", "memory at its most, recorder on", unit: "MiB", ours: on, reference: "off", off)
    ]
  }

  private func figure(_ costs: [RecorderPair.Costs], _ posting: RecorderPair.Posting) -> Figure {
    // The standard error says how far to trust the ratio. The bench computes it over the pairs of
    // daemons, and not over the slices of work. The slices of one pair are not independent: two
    // daemons may differ for their whole life by more than the recorder costs.
    let pairs = costs.map { Self.mean($0.ratios) }
    let mean = Self.mean(pairs)
    let squares = pairs.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
    let error = (squares / Double(max(1, pairs.count - 1)) / Double(pairs.count)).squareRoot()
    Talk.line(
      String(
        format: "\(posting.name), \(pairs.count) pairs: on against off, median of slices %.4f, "
          + "mean %.4f, its standard error %.4f",
        Spread(costs.flatMap(\.ratios)).median, mean, error))
    return Figure(
      "F", "CPU an event to its push, recorder on, \(posting.name)", unit: "µs",
      ours: costs.map { Self.mean($0.on) }, reference: "off", costs.map { Self.mean($0.off) },
      floor: Self.floor, aim: Self.aim)
  }

  private static func mean(_ values: [Double]) -> Double {
    values.reduce(0, +) / Double(values.count)
  }
}
