import Foundation

/// All results of a run. The JSON form is a contract: fields are added, never changed.
struct Report: Codable {
  var machine: Machine
  /// Only figures of a `release` build are meaningful.
  var build = Self.presentBuild
  var pairs: Int
  var figures: [Figure]

  private static var presentBuild: String {
    #if DEBUG
      "debug"
    #else
      "release"
    #endif
  }

  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(self), as: UTF8.self)
  }

  func table() -> String {
    let head = ["", "figure", "ours", "reference", "ratio", "floor", "goal"]
    let rows = [head] + figures.map(\.cells)
    let widths = head.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    let lines = rows.map { row in
      zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }
        .joined(separator: "  ").replacing(#/ +$/#, with: "")
    }
    return """
      \(machine.summary)
      \(build == "release" ? "" : "A \(build) build: it runs, and these figures say nothing.\n")\
      Median (lowest–highest) of \(pairs) rounds; a reference ran in turn with ours.

      \(lines.joined(separator: "\n"))
      """
  }
}

extension Figure {
  /// One row of the table.
  fileprivate var cells: [String] {
    let compared = reference.map {
      "\($0.value.text) \($0.name)\($0.isPublished ? ", published" : "")"
    }
    return [
      goal, name, "\(ours.text) \(unit)", compared ?? "–", ratio?.text ?? "–",
      target.map { Spread.text($0.floor) } ?? "–", target.map { Spread.text($0.goal) } ?? "–",
    ]
  }
}

extension Spread {
  fileprivate var text: String {
    min == max
      ? Self.text(median) : "\(Self.text(median)) (\(Self.text(min))–\(Self.text(max)))"
  }

  /// The value as text: up to three significant digits below 1,000, and a whole number with
  /// separated thousands from 1,000 on.
  fileprivate static func text(_ value: Double) -> String {
    switch abs(value) {
    case 1_000...: Int(value.rounded()).formatted(.number.locale(Locale(identifier: "en_US")))
    case 100...: String(format: "%.0f", value)
    case 10...: value == value.rounded() ? String(Int(value)) : String(format: "%.1f", value)
    case 1...: value == value.rounded() ? String(Int(value)) : String(format: "%.2f", value)
    case 0: "0"
    default: String(format: "%.3f", value)
    }
  }
}
