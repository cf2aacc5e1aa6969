import Foundation
import RelayCore
import Yams

/// The outcome of reading a configuration: settings, or every reason why there are none.
package struct SettingsReading: Sendable {
  /// Nil if there is any problem.
  package var settings: Settings?
  /// In the order of the file.
  package var problems: [Problem]
  /// Every key with the value in force; secrets masked.
  package var effective: [EffectiveValue]
  /// Where the control socket is, known even if other keys are wrong.
  package var controlSocket: String?
  /// Where the store is, as well.
  package var storeDirectory: String?
  /// Where the daemon is to listen, by key, as far as it is known.
  package var listens: [String: ListenAddress] = [:]
  /// Files with secrets that the settings name, and that could be read.
  package var secretFiles: [String] = []
}

extension Settings {
  package static let fileDefault = "/etc/zonerelay/zonerelay.yaml"

  /// Reads a configuration file and all files it names.
  ///
  /// Never throws: what is wrong stands in `problems`, all of it at once.
  package static func read(file: String, overrides: Overrides = Overrides()) -> SettingsReading {
    let bytes: [UInt8]
    do throws(Wrong) {
      bytes = try FileBytes.read(file)
    } catch {
      // The key is the path: it need not be said twice.
      let cause = String(error.cause.trimmingPrefix("\(file) "))
      return SettingsReading(key: file, Wrong(cause, remedy: error.remedy))
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      return SettingsReading(
        key: file, Wrong("is no UTF-8 text", remedy: "save the file as UTF-8"))
    }
    let directory = URL(fileURLWithPath: file).deletingLastPathComponent().path
    return read(text: text, name: file, directory: directory, overrides: overrides)
  }

  /// Reads a configuration from its text.
  ///
  /// - Parameters:
  ///   - name: how problems call the text as a whole.
  ///   - directory: where relative paths in it start.
  package static func read(
    text: String, name: String, directory: String, overrides: Overrides = Overrides()
  ) -> SettingsReading {
    let node: Node?
    do {
      node = try Yams.compose(yaml: text)
    } catch {
      return SettingsReading(key: name, problem(of: error))
    }
    let findings = Findings(overrides: overrides, directory: directory)
    let root = Section(node, place: "", findings: findings, canBeOverridden: true)
    let settings = Settings(root)
    findings.finish()
    let bad = Set(findings.problems.map(\.key))
    let listens = [
      "server.listen": settings.server.listen, "control.metrics": settings.control.metrics,
    ]
    return SettingsReading(
      settings: findings.problems.isEmpty ? settings : nil, problems: findings.problems,
      effective: findings.effective,
      controlSocket: bad.contains("control.socket") ? nil : settings.control.socket,
      storeDirectory: bad.contains("store.directory") ? nil : settings.store.directory,
      listens: listens.compactMapValues(\.self).filter { !bad.contains($0.key) },
      secretFiles: findings.secretFiles)
  }

  private static func problem(of error: any Error) -> (wrong: Wrong, line: Int?) {
    let remedy = "correct the YAML: two spaces a level, a blank after each colon, no tabs"
    switch error as? YamlError {
    case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
      .composer(_, let problem, let mark, _):
      return (Wrong("is no YAML: \(problem)", remedy: remedy), mark.line)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let keys = duplicates.sorted().joined(separator: ", ")
      return (
        Wrong("a key stands twice: \(keys)", remedy: "keep one of them"), context.mark.line
      )
    default:
      return (Wrong("is no YAML: \(error)", remedy: remedy), nil)
    }
  }
}

extension SettingsReading {
  fileprivate init(key: String, _ wrong: Wrong) { self.init(key: key, (wrong, nil)) }

  fileprivate init(key: String, _ found: (wrong: Wrong, line: Int?)) {
    settings = nil
    problems = [
      Problem(
        key: key, cause: found.wrong.cause, remedy: found.wrong.remedy, line: found.line)
    ]
    effective = []
    controlSocket = nil
    storeDirectory = nil
  }
}
