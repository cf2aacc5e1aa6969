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
      PushCommand.self, IngestCommand.self, PathCommand.self, CatchUpCommand.self,
      DevicesCommand.self, BurstCommand.self, MatchCommand.self, FanOutCommand.self,
      CourierCommand.self, RecorderCommand.self, AbuseCommand.self, AllCommand.self,
    ])
}

struct PushCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "S1, S2, S3: pushes through the engine, beside h2load.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await PushBench($0).run() }
  }
}

struct IngestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "ingest",
    abstract: "S4, S5: changes into the daemon, beside redis and NATS JetStream.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await IngestBench($0).run() }
  }
}

struct PathCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "path", abstract: "S6, S10: from an event to the push that it leads to.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await PathBench($0).run() }
  }
}

struct CatchUpCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "catchup", abstract: "S7: a page of changes, beside SQLite alone; an empty poll.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await CatchUpBench($0).run() }
  }
}

struct DevicesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "devices", abstract: "S8: memory of a device with three subscriptions.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await DevicesBench($0).run() }
  }
}

struct BurstCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "burst",
    abstract: "S9: a burst of changes for one user; ingest latency while 200 readers poll.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await BurstBench($0).run() }
  }
}

struct MatchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "match",
    abstract: "S11: a change among a million query subscriptions, beside one among a thousand.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await MatchBench($0).run() }
  }
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

struct RecorderCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recorder",
    abstract: "What the flight recorder costs a push: a daemon with it beside one without.")
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await RecorderBench($0).run() }
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
