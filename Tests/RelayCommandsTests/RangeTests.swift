import Foundation
import RelayCore
import RelayPush
import Testing

@testable import RelayCommands

/// The ranges in docs/configuration.md hold: both ends of a key's range are accepted, and one
/// beyond either end is refused with the key and a remedy.
@Suite struct RangeTests {
  /// A row of a table in docs/configuration.md, for a key that has a range.
  struct Row: Sendable, CustomTestStringConvertible {
    /// The key with its section, such as `budget.background.max`.
    var key: String
    var low: String
    var high: String
    var testDescription: String { "\(key): \(low)–\(high)" }
  }

  private static let sections = [
    "coalescing", "budget", "smearing", "wake", "retention", "limits",
  ]

  static let rows: [Row] = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let path = root.appendingPathComponent("docs/configuration.md")
    // If the page cannot be read there are no rows, and the first test fails.
    guard let page = try? String(contentsOf: path, encoding: .utf8) else { return [] }
    return sections.flatMap { rows(of: $0, in: page.components(separatedBy: "\n")) }
  }()

  private static func rows(of section: String, in lines: [String]) -> [Row] {
    guard let start = lines.firstIndex(of: "## \(section)") else { return [] }
    let table = lines[(start + 1)...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    return table.dropFirst(2).compactMap { line in
      let cells = line.dropFirst().components(separatedBy: "|").map {
        $0.replacingOccurrences(of: "`", with: "").trimmingCharacters(in: .whitespaces)
      }
      // The text after " or " or ", " is no part of the range, such as "off" or "less than max".
      let range = cells[2].components(separatedBy: " or ")[0].components(separatedBy: ", ")[0]
      let ends = range.components(separatedBy: "–")
      guard ends.count == 2, !range.hasSuffix("gaps") else { return nil }
      return Row(key: "\(section).\(cells[0])", low: ends[0], high: ends[1])
    }
  }

  @Test func `the range tables of the configuration page are found`() {
    #expect(Self.rows.count > 55, "found \(Self.rows.map(\.key))")
  }

  /// A quantity of one kind: a count, a duration in milliseconds, or bytes.
  private enum Amount {
    case count(Int), time(Int64), size(Int)

    init?(_ text: String) {
      let plain = text.replacingOccurrences(of: ",", with: "")
      if let count = Int(plain) {
        self = .count(count)
      } else if let size = Quantity.size(text) {
        self = .size(size)
      } else if let span = Quantity.span(text) {
        self = .time(span.milliseconds)
      } else {
        return nil
      }
    }

    /// The amount plus `more` of its smallest unit, as text for a configuration file.
    func text(_ more: Int) -> String {
      switch self {
      case .count(let count): "\(count + more)"
      case .size(let size): "\(size + more)"
      case .time(let time): "\(time + Int64(more))ms"
      }
    }
  }

  /// For each key, the values of other keys with which the key's whole range is possible.
  private static let companions: [String: [String: String]] = [
    "coalescing.window": ["coalescing.windowMax": "10m", "smearing.longest": "1h"],
    "coalescing.windowMax": ["coalescing.window": "1s", "smearing.longest": "1h"],
    "smearing.longest": ["coalescing.window": "1s", "coalescing.windowMax": "1s"],
    "budget.background.reserved": ["budget.background.max": "1000000"],
    "wake.attemptTimeout": ["wake.deadline": "1h"],
    "wake.deadline": ["wake.attemptTimeout": "2s"],
    "wake.retryFirst": ["wake.retryMax": "24h"],
    "wake.retryMax": ["wake.retryFirst": "20ms"],
    "limits.eventsPerRequest": ["limits.inboxChanges": "10000000"],
    "limits.inboxChanges": ["limits.eventsPerRequest": "2"],
    "limits.requestBodyBytes": ["limits.requestBodyBytesInFlight": "64GiB"],
    "limits.requestBodyBytesInFlight": ["limits.requestBodyBytes": "2KiB"],
  ]

  /// The amount at one end of a range. If the page names another key as the end, the amount is that
  /// key's value in `companions`.
  private func amount(_ text: String, of row: Row) throws -> Amount {
    if let amount = Amount(text) { return amount }
    let section = row.key.prefix { $0 != "." }
    let other = text.contains(".") ? text : "\(section).\(text)"
    let value = try #require(
      Self.companions[row.key]?[other], "\(row.key) ends at \(text): set it here")
    return try #require(Amount(value))
  }

  /// The problems of a configuration in which the row's key has `value`. Environment variables set
  /// the values, with the same effect as in the file.
  private func problems(_ row: Row, _ value: String, in world: SettingsWorld) -> [Problem] {
    var values = Self.companions[row.key] ?? [:]
    values[row.key] = value
    var environment: [String: String] = [:]
    for (key, value) in values {
      environment["ZONERELAY_" + key.uppercased().replacingOccurrences(of: ".", with: "_")] = value
    }
    return world.read(SettingsWorld.yaml(), environment: environment).problems
  }

  @Test(arguments: rows)
  func `a key accepts the ends of its range and refuses values beyond them`(row: Row) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let (low, high) = (try amount(row.low, of: row), try amount(row.high, of: row))
    for value in [low.text(0), low.text(1), high.text(-1), high.text(0)] {
      #expect(problems(row, value, in: world) == [], "\(row.key): \(value)")
    }
    for value in [low.text(-1), high.text(1)] {
      let found = problems(row, value, in: world)
      let own = found.first { $0.key == row.key }
      #expect(own != nil && own?.remedy.isEmpty == false, "\(row.key): \(value) gave \(found)")
    }
  }

  /// A push for which a sender has no place comes back unsent, and unsent pushes of twenty devices
  /// in a row stop the route.
  @Test func `senders have room for all pushes in flight on a route`() throws {
    let row = try #require(Self.rows.first { $0.key == "limits.inFlightPerRoute" })
    let most = try #require(Int(row.high.replacingOccurrences(of: ",", with: "")))
    #expect(most == EngineLimits().waitingMax && most == WebLimits().waitingMax)
  }

  /// The gaps between wakes are a list: the number of gaps has a range, and each gap has one.
  @Test(arguments: [(count: 0, isTaken: false), (1, true), (15, true), (16, true), (17, false)])
  func `the ladder has 1 to 16 gaps`(count: Int, isTaken: Bool) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let gaps = Array(repeating: "1m", count: count).joined(separator: ", ")
    let problems = world.read(SettingsWorld.yaml(extra: "wake: { rewake: [\(gaps)] }")).problems
    #expect(problems.map(\.key) == (isTaken ? [] : ["wake.rewake"]))
  }

  @Test(arguments: [
    ("99ms", false), ("100ms", true), ("101ms", true), ("30d", true), ("2592000001ms", false),
  ])
  func `a gap of the ladder has a range`(gap: String, isTaken: Bool) throws {
    let world = try SettingsWorld()
    defer { world.remove() }
    let problems = world.read(SettingsWorld.yaml(extra: "wake: { rewake: [\(gap)] }")).problems
    #expect(problems.map(\.key) == (isTaken ? [] : ["wake.rewake[0]"]))
  }
}
