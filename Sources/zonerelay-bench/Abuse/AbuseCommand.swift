import ArgumentParser

struct AbuseCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "abuse",
    abstract: "Hostile callers beside 50 well-behaved users: what those feel, and what is left.",
    discussion: """
      Measures 50 users alone, then beside a stranger, a user with a valid token and a producer \
      with a valid key who do their worst, each alone and all together. It fails, with exit code \
      1, when a well-behaved user is refused or waits too long, when a hostile caller is answered \
      500, when memory or files grow beyond their bounds, or when a killed daemon recovers late.
      """)
  @OptionGroup var options: BenchOptions
  @Option(help: "Seconds that each hostile caller goes on (default 600; a tenth with --quick).")
  var seconds: Int?

  @Flag(help: "Bounds of time for a debug build on a busy machine; all others as they are.")
  var wide = false

  @Option(help: "Only phases and single kinds of abuse whose name contains this, and no kills.")
  var only: String?

  func validate() throws {
    if let seconds, !(5...3_600).contains(seconds) {
      throw ValidationError("--seconds must be between 5 and 3600")
    }
  }

  func measure(_ bench: Workbench) async throws -> [Figure] {
    try await AbuseBench(
      bench: bench, seconds: seconds ?? options.amount(600), bounds: wide ? .wide : AbuseBounds(),
      only: only
    ).run()
  }
}
