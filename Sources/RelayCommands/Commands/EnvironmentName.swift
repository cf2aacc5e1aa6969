import ArgumentParser
import RelayCore

/// The value of an option `--environment`.
enum EnvironmentName {
  /// - Throws: a wrong usage.
  static func check(_ name: String?) throws {
    guard let name, Environment(name: name) == nil else { return }
    throw ValidationError("--environment must be development or production, not \(name)")
  }
}
