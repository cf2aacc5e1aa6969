import RelaySimulation

/// Compares rules for background wakes, each over the same seasons.
struct SeasonReport {
  struct Row {
    var shape: SeasonShape
    var rule: SeasonRule
    var sum = SeasonFigures()
    /// One measure for each season, in the order of the seeds.
    var each: [Measure] = []
  }

  /// The figures by which two rules for background wakes are compared.
  struct Measure {
    var pushes: Double
    var median: Double
    var late: Double

    init(_ figures: SeasonFigures) {
      pushes = figures.pushesPerHour
      // Each value is at least one second, so that a ratio never divides by zero. A phone needs
      // seconds to run its app anyway.
      median = Double(max(figures.freshness(percent: 50), 1))
      late = Double(max(figures.freshness(percent: 99), 1))
    }
  }

  static let rules: [SeasonRule] = [.fixed(3), .fixed(2), .signal, .spaced(30), .adaptive]
  private(set) var rows: [Row] = []
  /// Seasons in which a promise was broken: their figures are meaningless.
  private(set) var broken: [String] = []

  static func run(_ options: SimulateOptions) async -> SeasonReport {
    var report = SeasonReport()
    for shape in options.shapes {
      for rule in rules {
        var row = Row(shape: shape, rule: rule)
        await parallel(options.range, jobs: options.jobs) { seed in
          Season.run(seed: seed, shape: shape, rule: rule)
        } each: { outcome in
          row.sum = row.sum + outcome.figures
          row.each.append(Measure(outcome.figures))
          guard let found = outcome.broken else { return }
          report.broken.append(
            "\(found.promise.rawValue) broken: season \(outcome.seed), \(shape.rawValue), "
              + "\(rule.name): \(found.text)")
        }
        report.rows.append(row)
      }
    }
    return report
  }

  var table: String {
    let titles = [
      "traffic", "rule", "pushes/h", "p50", "p99", "budget", "dropped", "replaced",
    ]
    let cells = rows.map { row in
      [
        row.shape.rawValue, row.rule.name, row.sum.pushesPerHour.text(3),
        Self.time(row.sum.freshness(percent: 50)), Self.time(row.sum.freshness(percent: 99)),
        Self.percent(row.sum.attempts, of: row.sum.hours * 3),
        Self.percent(row.sum.dropped, of: row.sum.pushes),
        Self.percent(row.sum.replaced, of: row.sum.pushes),
      ]
    }
    let notes = """

      Pushes that Apple took, a device and hour. Freshness: from a change's acceptance to its fetch,
      counted only while the phone could be reached; what was not fetched counts with its age.
      Budget: attempts, of three an hour. Dropped: the push never reached the phone; replaced: a
      newer one, or the phone's owner, came before it.

      """
    return Self.columns([titles] + cells) + notes + "\n" + Self.columns(comparison)
  }

  /// Compares the adaptive rule with each other rule. In each season, each figure of the adaptive
  /// rule is divided by the other rule's figure; the table shows the median, lowest and highest of
  /// these ratios.
  private var comparison: [[String]] {
    var lines = [["traffic", "adaptive to", "pushes", "p50", "p99"]]
    for ours in rows where ours.rule == .adaptive {
      for other in rows where other.shape == ours.shape && other.rule != ours.rule {
        func spread(_ value: (Measure) -> Double) -> String {
          let ratios = zip(ours.each, other.each).map { value($0) / value($1) }.sorted()
          guard let low = ratios.first, let high = ratios.last else { return "-" }
          return "\(ratios[ratios.count / 2].text(2)) (\(low.text(2))-\(high.text(2)))"
        }
        lines.append([
          ours.shape.rawValue, other.rule.name, spread(\.pushes), spread(\.median),
          spread(\.late),
        ])
      }
    }
    return lines
  }

  /// One JSON object for each row: the kind of traffic, the rule for background wakes, the figures.
  var json: String {
    rows.map { row in
      let members: [(String, String)] = [
        ("shape", "\"\(row.shape.rawValue)\""), ("rule", "\"\(row.rule.name)\""),
        ("seasons", "\(row.each.count)"), ("deviceHours", "\(row.sum.hours)"),
        ("changes", "\(row.sum.changes)"), ("attempts", "\(row.sum.attempts)"),
        ("pushes", "\(row.sum.pushes)"), ("pushesPerDeviceHour", row.sum.pushesPerHour.text(4)),
        ("freshnessP50Seconds", "\(row.sum.freshness(percent: 50))"),
        ("freshnessP99Seconds", "\(row.sum.freshness(percent: 99))"),
        ("ran", "\(row.sum.ran)"), ("replaced", "\(row.sum.replaced)"),
        ("dropped", "\(row.sum.dropped)"), ("unfetchedAtEnd", "\(row.sum.unfetched)"),
      ]
      return "{" + members.map { "\"\($0)\":\($1)" }.joined(separator: ",") + "}"
    }.joined(separator: "\n")
  }

  private static func time(_ seconds: Int) -> String {
    if seconds < 120 { return "\(seconds) s" }
    if seconds < 7_200 { return "\((Double(seconds) / 60).text(1)) min" }
    return "\((Double(seconds) / 3_600).text(1)) h"
  }

  private static func percent(_ part: Int, of whole: Int) -> String {
    "\((100 * Double(part) / Double(max(whole, 1))).text(1)) %"
  }

  private static func columns(_ lines: [[String]]) -> String {
    let widths = lines[0].indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
        .joined(separator: "  ")
    }.joined(separator: "\n") + "\n"
  }
}

extension Double {
  /// The number with this many digits after the point.
  fileprivate func text(_ digits: Int) -> String {
    let scale = (0..<digits).reduce(1) { product, _ in product * 10 }
    let scaled = Int((self * Double(scale)).rounded())
    let rest = String(scaled % scale)
    return "\(scaled / scale)." + String(repeating: "0", count: digits - rest.count) + rest
  }
}
