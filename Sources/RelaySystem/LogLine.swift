import Foundation
import Logging
import RelayCore

/// One log line before it is formatted.
struct LogLine: Sendable {
  var time: Instant
  var level: Logger.Level
  var logger: String
  var message: String
  /// The fields, sorted by name.
  var fields: [(name: String, value: String)]
  var file: String
  var line: UInt
  var function: String

  /// The message followed by the fields, for people.
  var sentence: String {
    ([message] + fields.map { "\($0.name)=\(Self.quoted($0.value))" }).joined(separator: " ")
  }

  /// `2026-11-21T03:00:00.123Z info engine: message key=value`
  var text: String { "\(timeText) \(level) \(logger): \(Self.oneLine(sentence))" }

  /// One JSON object without a line break. `time`, `level`, `logger` and `message` are reserved, so
  /// a field of such a name gets an underscore.
  var json: String {
    let ours = [
      ("time", timeText), ("level", "\(level)"), ("logger", logger), ("message", message),
    ]
    let names = Set(ours.map { $0.0 })
    let theirs = fields.map { (names.contains($0.name) ? "\($0.name)_" : $0.name, $0.value) }
    let members = (ours + theirs).map { "\(Self.json($0.0)):\(Self.json($0.1))" }
    return "{\(members.joined(separator: ","))}"
  }

  private var timeText: String {
    // The formatter truncates fractions. Half a millisecond more keeps a rounding error from losing
    // a whole millisecond.
    Date(timeIntervalSince1970: (Double(time.milliseconds) + 0.5) / 1_000)
      .formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }

  private static func oneLine(_ text: String) -> String {
    String(text.map { $0.isNewline ? " " : $0 })
  }

  private static func quoted(_ value: String) -> String {
    let isPlain = !value.isEmpty && value.allSatisfy { !$0.isWhitespace && $0 != "\"" && $0 != "=" }
    return isPlain ? value : json(value)
  }

  private static func json(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where scalar.value < 0x20:
        result += "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result + "\""
  }
}
