import RelayCore
import Yams

/// The result of reading a configuration: problems, and every value with its origin.
///
/// One task uses it for one reading; it is never shared.
final class Diagnostics {
  let overrides: Overrides
  /// The directory that relative paths start from.
  let directory: String
  private(set) var problems: [Problem] = []
  private(set) var effective: [EffectiveValue] = []
  /// The sections that were read so far.
  var sections: [Section] = []
  private var overridden: Set<String> = []
  /// The environment variables of the keys that were read.
  private var variables: [String] = []
  /// Files that hold secrets, in the order they were read.
  var secretFiles: [String] = []

  init(overrides: Overrides, directory: String) {
    self.overrides = overrides
    self.directory = directory
  }

  func report(_ key: String, _ wrong: ValueError, line: Int? = nil) {
    problems.append(Problem(key: key, cause: wrong.cause, remedy: wrong.remedy, line: line))
  }

  func note(_ key: String, _ value: String, _ origin: EffectiveValue.Origin) {
    effective.append(EffectiveValue(key: key, value: value, origin: origin))
  }

  /// The flag or environment variable that overrides a key. The key counts as read from now on.
  func override(_ key: String) -> (name: String, text: String)? {
    variables.append(Overrides.variable(key))
    guard let value = overrides.value(of: key) else { return nil }
    overridden.insert(value.name)
    return value
  }

  /// Reports unknown keys and variables, then sorts the problems by their line in the file.
  func finish() {
    for section in sections { section.reportUnknownKeys() }
    // Each section refers to this object, so without this line every reload would leak a
    // `Diagnostics`.
    sections = []
    for name in overrides.variables where !overridden.contains(name) {
      let remedy =
        name.nearest(of: variables).map { "did you mean \($0)?" }
        ?? "unset it, or correct its name: ZONERELAY_ and the key in capitals, _ for ."
      report(name, ValueError("no key has this environment variable", remedy: remedy))
    }
    problems = problems.enumerated().sorted { left, right in
      (left.element.line ?? .max, left.offset) < (right.element.line ?? .max, right.offset)
    }.map(\.element)
  }
}

/// A value as the daemon will use it, with its origin. Secrets are shown by path and size.
package struct EffectiveValue: Hashable, Sendable {
  package enum Origin: Hashable, Sendable {
    case standard
    case file(line: Int?)
    /// Set by an environment variable or a flag of this name.
    case override(String)
  }

  package var key: String
  package var value: String
  package var origin: Origin
}
