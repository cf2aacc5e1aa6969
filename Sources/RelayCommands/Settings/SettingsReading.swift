import Foundation
import RelayCore
import Yams

/// The result of reading a configuration: settings, or every reason why there are none.
package struct SettingsReading: Sendable {
  /// The settings; nil if there is any problem.
  package var settings: Settings?
  /// All problems, in the order of the file.
  package var problems: [Problem]
  /// Every key with its effective value; secrets are masked.
  package var effective: [EffectiveValue] = []
  /// The path of the control socket, known even if other keys are wrong.
  package var controlSocket: String?
  /// The directory of the store, known even if other keys are wrong.
  package var storeDirectory: String?
  /// The addresses to listen on, by key, as far as they are known.
  package var listens: [String: ListenAddress] = [:]
  /// The secret files that the settings name, in the order in which they were read.
  package var secretFiles: [String] = []
}

extension Settings {
  package static let fileDefault = "/etc/zonerelay/zonerelay.yaml"

  /// Reads a configuration file and all files it names.
  ///
  /// The call never throws: `problems` holds everything that is wrong.
  package static func read(file: String, overrides: Overrides = Overrides()) -> SettingsReading {
    let bytes: [UInt8]
    do throws(ValueError) {
      bytes = try FileBytes.read(file)
    } catch {
      // The problem's key is the path, so the cause need not repeat it.
      let cause = String(error.cause.trimmingPrefix("\(file) "))
      return SettingsReading(problems: [Problem(key: file, cause: cause, remedy: error.remedy)])
    }
    // Editors on Windows write a byte order mark, and the YAML library refuses it.
    let content = bytes.trimmingPrefix("\u{feff}".utf8)
    guard let text = String(validating: content, as: UTF8.self) else {
      return SettingsReading(
        problems: [Problem(key: file, cause: "is no UTF-8 text", remedy: "save the file as UTF-8")])
    }
    let directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
    return read(text: text, name: file, directory: directory, overrides: overrides)
  }

  /// Reads a configuration from its text.
  ///
  /// - Parameters:
  ///   - name: how problems name the text.
  ///   - directory: the directory that relative paths in the text start from.
  package static func read(
    text: String, name: String, directory: String, overrides: Overrides = Overrides()
  ) -> SettingsReading {
    let node: Node?
    do {
      node = try Yams.compose(yaml: text)
    } catch {
      return SettingsReading(problems: [problem(of: error, in: name)])
    }
    let diagnostics = Diagnostics(overrides: overrides, directory: directory)
    let root = Section(node, place: "", diagnostics: diagnostics, canBeOverridden: true)
    let settings = Settings(root)
    diagnostics.finish()
    let bad = Set(diagnostics.problems.map(\.key))
    let listens = [
      "server.listen": settings.server.listen, "control.metrics": settings.control.metrics,
    ]
    return SettingsReading(
      settings: diagnostics.problems.isEmpty ? settings : nil, problems: diagnostics.problems,
      effective: diagnostics.effective,
      controlSocket: bad.contains("control.socket") ? nil : settings.control.socket,
      storeDirectory: bad.contains("store.directory") ? nil : settings.store.directory,
      listens: listens.compactMapValues(\.self).filter { !bad.contains($0.key) },
      secretFiles: diagnostics.secretFiles)
  }

  private static func problem(of error: any Error, in name: String) -> Problem {
    let remedy = "correct the YAML: two spaces a level, a blank after each colon, no tabs"
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      return Problem(
        key: name, cause: "is no YAML: \(problem)", remedy: remedy, line: mark.line)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let keys = duplicates.sorted().joined(separator: ", ")
      return Problem(
        key: name, cause: "a key stands twice: \(keys)", remedy: "keep one of them",
        line: context.mark.line)
    default:
      return Problem(key: name, cause: "is no YAML: \(error)", remedy: remedy)
    }
  }
}
