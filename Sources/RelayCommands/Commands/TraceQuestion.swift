import ArgumentParser
import RelayCore

/// What the questions to the flight recorder have in common.
enum TraceQuestion {
  /// - Throws: a wrong usage. The daemon would refuse such a question, too.
  static func check(zone: String?, environment: String?) throws {
    if let environment, Environment(name: environment) == nil {
      throw ValidationError("--environment must be development or production, not \(environment)")
    }
    if let zone, TraceSearch.Question.Zone(text: zone) == nil {
      throw ValidationError("--zone must be OWNER/NAME, and neither may be empty: \(zone)")
    }
  }
}
