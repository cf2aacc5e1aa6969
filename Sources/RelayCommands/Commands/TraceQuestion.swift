import ArgumentParser
import RelayCore

/// What the questions to the flight recorder have in common.
enum TraceQuestion {
  /// - Throws: a wrong usage. The daemon would refuse such a question, too.
  static func check(zone: String?, environment: String?) throws {
    if let environment, Environment(name: environment) == nil {
      throw ValidationError("--environment must be development or production")
    }
    guard let zone else { return }
    let parts = zone.unicodeScalars.split(
      separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.allSatisfy({ !$0.isEmpty }) else {
      throw ValidationError("--zone must be OWNER/NAME, and neither may be empty")
    }
  }
}
