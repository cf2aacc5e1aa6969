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

struct FanOutCommand: AsyncParsableCommand {
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

  func run() async throws {
    try await BenchRun.run(options) {
      try await FanOutBench($0, subscribers: options.amount(subscribers)).run()
    }
  }
}

struct AllCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "all",
    abstract: "All that one round of a release needs: push to match, one after another.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) {
      try await PushBench($0).run() + IngestBench($0).run() + PathBench($0).run()
        + CatchUpBench($0).run() + DevicesBench($0).run() + BurstBench($0).run()
        + MatchBench($0).run()
    }
  }
}
