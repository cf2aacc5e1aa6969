import Foundation
import Testing

/// Every bound that the pages promise has a test with three values: the bound less one, the bound,
/// and the bound plus one.
///
/// The test's comment names the bound. For a bound that a key sets, the comment has `Limit:` and
/// the key as in docs/configuration.md (`Limit: limits.zonesPerUser`). For any other bound, the
/// comment has `Fixed limit:` and the first column of the bound's row in docs/configuration.md or
/// docs/http.md.
@Suite struct LimitTests {
  private static let page = "docs/configuration.md"
  private static let requests = "docs/http.md"

  /// The keys of `limits` and of `retention`.
  private static func keys() throws -> [String] {
    try ["limits", "retention"].flatMap { section in
      try rows(of: "## \(section)", in: page).map { "\(section).\($0[0])" }
    }
  }

  /// Bounds that no key sets.
  private static func fixed() throws -> [String] {
    let shares = try rows(of: "### Shares of one caller", in: page)
    let others = try rows(of: "### Bounds that no key sets", in: page)
    let unset = try rows(of: "## Limits", in: requests).filter { $0[2].isEmpty }
    return (shares + others + unset).map { $0[0] }
  }

  /// Cells of the first table below a heading, without backticks.
  private static func rows(of heading: String, in page: String) throws -> [[String]] {
    let lines = try SourceTree.text(page).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: heading), "\(page) has no \(heading)")
    let table = lines[(start + 1)...].drop { !$0.hasPrefix("|") }.prefix { $0.hasPrefix("|") }
    return table.dropFirst(2).map { line in
      line.dropFirst().dropLast().components(separatedBy: "|").map {
        $0.replacingOccurrences(of: "`", with: "").trimmingCharacters(in: .whitespaces)
      }
    }
  }

  /// The bounds that the comments of tests name, each with its place.
  private static func marks(_ word: String) throws -> [(name: String, place: String)] {
    try SourceTree.swift("Tests").filter { $0.room != "TidyTests" }.flatMap { file in
      file.lines.enumerated().compactMap { index, line in
        let text = line.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("/// \(word): ") else { return nil }
        return (String(text.dropFirst("/// \(word): ".count)), file.place(index))
      }
    }
  }

  @Test(arguments: ["Limit", "Fixed limit"])
  func `every bound has a test, and every limit mark names a bound`(word: String) throws {
    let bounds = word == "Limit" ? try Self.keys() : try Self.fixed()
    #expect(bounds.count > 15)
    let marks = try Self.marks(word)
    let shown = Set(marks.map(\.name))
    for bound in bounds where !shown.contains(bound) {
      Issue.record(
        """
        no test shows \(bound): write one with the bound less one, the bound and the bound plus \
        one, beside the tests of what keeps it, and the line '/// \(word): \(bound)' above it
        """)
    }
    for mark in marks where !bounds.contains(mark.name) {
      Issue.record(
        "\(mark.place) shows '\(mark.name)', which is no bound of \(Self.page) or \(Self.requests)")
    }
  }

  /// Each line `Limit:` or `Fixed limit:` belongs to a comment directly above a test.
  @Test func `every limit mark is directly above a test`() throws {
    for file in try SourceTree.swift("Tests") where file.room != "TidyTests" {
      for (index, line) in file.lines.enumerated() {
        let text = line.trimmingCharacters(in: .whitespaces)
        guard text.hasPrefix("/// Limit: ") || text.hasPrefix("/// Fixed limit: ") else { continue }
        let next = file.lines[(index + 1)...].first {
          !$0.trimmingCharacters(in: .whitespaces).hasPrefix("///")
        }
        #expect(
          next?.trimmingCharacters(in: .whitespaces).hasPrefix("@Test") == true,
          "\(file.place(index)) is not above a test")
      }
    }
  }

  /// Every key on the client's page exists on the operator's page.
  @Test func `the client's page names only existing keys`() throws {
    let rows = try Self.rows(of: "## Limits", in: Self.requests)
    let keys = Set(try Self.keys())
    #expect(rows.count > 20)
    for row in rows where !row[2].isEmpty {
      #expect(keys.contains(row[2]), "\(Self.requests): '\(row[0])' is set by no key \(row[2])")
    }
  }
}
