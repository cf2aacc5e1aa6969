import ArgumentParser
import RelayCore

/// The options that narrow a question to a container and an environment.
struct ScopeOptions: ParsableArguments, Sendable {
  @Option(help: ArgumentHelp("Only of this container.", valueName: "id"))
  var container: String?

  @Option(help: ArgumentHelp("Only of development or production.", valueName: "name"))
  var environment: String?

  var query: [(String, String?)] { [("container", container), ("environment", environment)] }

  /// Checks the zone and the environment of a question to the flight recorder. The daemon checks
  /// both, too.
  ///
  /// - Throws: `ValidationError` for a wrong zone or environment.
  func check(zone: String?) throws {
    try Self.check(environment: environment)
    if let zone, TraceSearch.Question.Zone(text: zone) == nil {
      throw ValidationError("--zone must be OWNER/NAME, and neither may be empty: \(zone)")
    }
  }

  /// Checks the value of an option `--environment`.
  ///
  /// - Throws: `ValidationError` for any other name than that of an environment.
  static func check(environment name: String?) throws {
    guard let name, Environment(name: name) == nil else { return }
    throw ValidationError("--environment must be development or production, not \(name)")
  }
}
