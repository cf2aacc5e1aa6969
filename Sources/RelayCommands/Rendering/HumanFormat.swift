import Foundation

/// Quantities in a form for people.
enum HumanFormat {
  /// A duration such as `4.2 s`, `3 min`, `5 h 12 min` or `3 d 4 h`.
  static func age(_ seconds: Double) -> String {
    guard seconds >= 60 else { return String(format: "%.1f s", max(0, seconds)) }
    let minutes = Int(min(seconds, 1e12)) / 60
    switch minutes {
    case ..<60: return "\(minutes) min"
    case ..<1_440: return "\(minutes / 60) h \(minutes % 60) min"
    default: return "\(minutes / 1_440) d \(minutes % 1_440 / 60) h"
    }
  }

  static func size(_ bytes: Int64) -> String {
    var (value, units) = (Double(bytes), ["B", "KiB", "MiB", "GiB", "TiB"][...])
    while value >= 1_024, units.count > 1 {
      value /= 1_024
      units = units.dropFirst()
    }
    let unit = units.first ?? "B"
    return unit == "B" ? "\(bytes) B" : String(format: "%.1f ", value) + unit
  }

  /// A text of any origin as one line: line breaks and tabs become blanks. Other characters that
  /// could move a terminal's cursor or turn its text around become `�`.
  static func line(_ text: String) -> String {
    let lines = text.split(whereSeparator: \.isNewline).joined(separator: " ")
    return String(
      String.UnicodeScalarView(
        lines.unicodeScalars.map { scalar in
          switch scalar.properties.generalCategory {
          case .control: scalar == "\t" ? " " : "\u{fffd}"
          case .format: "\u{fffd}"
          default: scalar
          }
        }))
  }

  /// Puts `…` in place of the middle of a name longer than `width`. The beginning and the end stay,
  /// because names differ mostly there.
  static func cut(_ name: String, to width: Int) -> String {
    guard name.count > width else { return name }
    let tail = (width - 1) / 2
    return "\(name.prefix(width - 1 - tail))…\(name.suffix(tail))"
  }

  /// A time in UTC, to the second.
  static func moment(_ milliseconds: Int64) -> String {
    Date(timeIntervalSince1970: Double(milliseconds) / 1_000).formatted(.iso8601)
  }
}
