import RelayCore
import Yams

/// What reading a configuration brought to light: problems, and every value with where it is from.
///
/// One reading, one task: never shared.
final class Diagnostics {
  let overrides: Overrides
  /// The directory that relative paths start from.
  let directory: String
  private(set) var problems: [Problem] = []
  private(set) var effective: [EffectiveValue] = []
  private var sections: [Section] = []
  private var overridden: Set<String> = []
  /// The variables that keys have.
  private var variables: [String] = []
  /// Files that hold secrets, in the order read.
  private(set) var secretFiles: [String] = []

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

  func opened(_ section: Section) { sections.append(section) }

  /// A flag's or the environment's word for a key, which counts as read from now on.
  func override(_ key: String) -> Overrides.Value? {
    variables.append(Overrides.variable(key))
    guard let value = overrides.value(of: key) else { return nil }
    overridden.insert(value.name)
    return value
  }

  func read(secretFile path: String) { secretFiles.append(path) }

  /// Reports what nobody asked for, then puts the problems in the order of the file.
  func finish() {
    for section in sections { section.reportUnknownKeys() }
    // Each of them holds these diagnostics: kept, they would stay for ever, one set for each
    // reload.
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

/// A value as the daemon will use it, and who decided it. Secrets are shown by path and size.
package struct EffectiveValue: Hashable, Sendable {
  package enum Origin: Hashable, Sendable {
    case standard
    case file(line: Int?)
    /// An environment variable or a flag, by name.
    case override(String)
  }

  package var key: String
  package var value: String
  package var origin: Origin
}
