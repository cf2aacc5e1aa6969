import ArgumentParser

/// Measures zonerelay beside the references of its goals (docs/performance.md). All traffic stays
/// on loopback, all work is bounded in count and time, and all files are removed afterwards.
@main
struct Bench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "zonerelay-bench",
    abstract: "Measure zonerelay beside references run on the same machine.",
    discussion: """
      Each figure is the median of several pairs, ours and the reference in turn, and a ratio of \
      the two: rates swing with the machine, ratios and CPU per operation much less. Nothing \
      fails for being slow; it fails, with exit code 1, when something is lost.
      """,
    subcommands: [
      MeasureCommand<PushBench>.self, MeasureCommand<IngestBench>.self,
      MeasureCommand<PathBench>.self, MeasureCommand<CatchUpBench>.self,
      MeasureCommand<DevicesBench>.self, MeasureCommand<BurstBench>.self,
      MeasureCommand<MatchBench>.self, FanOutCommand.self,
      CourierCommand.self, MeasureCommand<RecorderBench>.self, AbuseCommand.self, AllCommand.self,
    ])
}

struct FanOutCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "fanout",
    abstract: "S12 and P1: a public change for a million subscribers, killed in the middle.")
  @OptionGroup var options: BenchOptions

  @Option(help: "Users with a subscription to the record's type (a tenth with --quick).")
  var subscribers = 1_000_000

  func validate() throws {
    guard (1_000...10_000_000).contains(subscribers) else {
      throw ValidationError("--subscribers must be between 1000 and 10000000")
    }
  }

  func measure(_ bench: Workbench) async throws -> [Figure] {
    try await FanOutBench(bench: bench, subscribers: options.amount(subscribers)).run()
  }
}

struct AllCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "All that one round of a release needs: push to match, one after another.")
  @OptionGroup var options: BenchOptions

  func measure(_ bench: Workbench) async throws -> [Figure] {
    let parts: [any Measurement.Type] = [
      PushBench.self, IngestBench.self, PathBench.self, CatchUpBench.self, DevicesBench.self,
      BurstBench.self, MatchBench.self,
    ]
    var figures: [Figure] = []
    for part in parts { figures += try await part.init(bench: bench).run() }
    return figures
  }
}
