import Foundation
import Testing

@testable import RelayCommands

/// The codes of findings, and the page that explains them.
@Suite struct FindingCodeTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test func `every code, its sentence and its remedy are on the troubleshooting page`() throws {
    let page = try String(
      contentsOf: Self.root.appendingPathComponent("docs/troubleshooting.md"), encoding: .utf8)
    let rows = Set(page.split(separator: "\n").map(String.init))
    #expect(FindingCode.all.count > 40)
    for code in FindingCode.all {
      let row =
        "| `\(code.text)` | \(code.isWarning ? "!" : "✗") | \(code.sentence) | "
        + "\(code.remedy) |"
      #expect(rows.contains(row), "docs/troubleshooting.md has no row:\n\(row)")
    }
    let shown = rows.filter { $0.contains("` | ✗ | ") || $0.contains("` | ! | ") }
    #expect(shown.count == FindingCode.all.count, "a row is of no code any more")
  }

  @Test func `no two codes have one name or one sentence, and each has a remedy`() {
    #expect(Set(FindingCode.all.map(\.text)).count == FindingCode.all.count)
    #expect(Set(FindingCode.all.map(\.sentence)).count == FindingCode.all.count)
    for code in FindingCode.all {
      #expect(code.text.allSatisfy { $0.isLowercase || $0 == "_" }, "\(code.text)")
      #expect(!code.remedy.isEmpty && !code.sentence.hasSuffix("."))
      #expect(!code.sentence.contains("|") && !code.remedy.contains("|"))
    }
  }

  @Test func `every group of findings has a code`() {
    #expect(Set(FindingCode.all.map(\.group)) == Set(CheckGroup.allCases))
  }
}
