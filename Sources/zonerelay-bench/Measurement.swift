import ArgumentParser

/// A measurement that takes no options of its own, and is a subcommand.
protocol Measurement {
  static var configuration: CommandConfiguration { get }
  init(_ bench: Workbench)
  func run() async throws -> [Figure]
}

struct MeasureCommand<Measured: Measurement>: AsyncParsableCommand {
  static var configuration: CommandConfiguration { Measured.configuration }
  @OptionGroup var options: BenchOptions

  func run() async throws {
    try await BenchRun.run(options) { try await Measured($0).run() }
  }
}
