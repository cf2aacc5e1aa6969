import Foundation
import Testing

/// The documents contain what the code defines.
@Suite struct DocumentTests {
  /// Every key that the settings read is in the sample file and on the configuration page.
  @Test func `every configuration key is documented`() throws {
    let keys = try Self.keys()
    #expect(keys.count > 50)
    let sample = try SourceTree.text("config/zonerelay.yaml")
    let page = try SourceTree.text("docs/configuration.md")
    for key in keys.sorted() {
      #expect(Self.says(sample, key), "config/zonerelay.yaml does not show \(key)")
      #expect(Self.says(page, key), "docs/configuration.md does not show \(key)")
    }
  }

  /// The keys that the code names in its calls of `Section`.
  private static func keys() throws -> Set<String> {
    let call = try Regex(
      #"\.(?:value|read|required|list|section|optionalSection|sections)\(\s*"([A-Za-z]+)""#)
    var keys: Set<String> = ["development", "production"]
    for file in try SourceTree.swift("Sources/RelayCommands/Settings") {
      for match in file.lines.joined(separator: "\n").matches(of: call) {
        if let key = match.output[1].substring { keys.insert(String(key)) }
      }
    }
    return keys
  }

  /// True if the text has the key as a whole word.
  private static func says(_ text: String, _ key: String) -> Bool {
    text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.contains { $0 == key }
  }

  /// Each code that operators, logs or clients can meet is explained on one of three pages.
  @Test func `every error code is documented`() throws {
    let codes = try Self.codes()
    #expect(codes.count > 20)
    let pages = try ["troubleshooting", "http", "client"].map { page in
      try SourceTree.text("docs/\(page).md")
    }.joined()
    for code in codes.sorted() {
      #expect(Self.says(pages, code), "no page explains \(code)")
    }
  }

  private static func codes() throws -> Set<String> {
    let constant = try Regex(#"= Code\("([a-z_]+)"\)"#)
    let cases = try Regex(#"case [A-Za-z]+ = "([A-Za-z_]+)""#)
    let causes = ["RelayCore/Values/Unavailable.swift", "RelayHTTP/Answers/ServerErrorCode.swift"]
    var codes: Set<String> = []
    for file in try SourceTree.swift("Sources") {
      let text = file.lines.joined(separator: "\n")
      var found = text.matches(of: constant)
      if causes.contains(where: file.path.hasSuffix) { found += text.matches(of: cases) }
      for match in found {
        if let code = match.output[1].substring { codes.insert(String(code)) }
      }
    }
    return codes
  }

  /// Every test that the safety page names exists. A constraint whose test is missing is not
  /// checked.
  @Test func `every test that the safety page names exists`() throws {
    let name = try Regex(#"`(?:[A-Za-z]+/)*([A-Za-z]+(?:Tests|Conformance))`"#)
    let files = Set(try SourceTree.swift("Tests").map(\.name))
    var seen = 0
    for match in try SourceTree.text("docs/safety.md").matches(of: name) {
      guard let test = match.output[1].substring, test != "TidyTests" else { continue }
      seen += 1
      #expect(files.contains("\(test).swift"), "docs/safety.md names \(test), which is not there")
    }
    #expect(seen > 30)
  }

  /// A new reader can open every page that another page links to.
  @Test func `every link in the documents leads to an existing file`() throws {
    let link = try Regex(#"\]\(([^)#:]+)(?:#[^)]*)?\)"#)
    var pages = ["README.md", "CHANGELOG.md"]
    pages += try SourceTree.paths("docs") { $0.hasSuffix(".md") }
    for page in pages {
      let folder = page.split(separator: "/").dropLast().map { $0 + "/" }.joined()
      for match in try SourceTree.text(page).matches(of: link) {
        guard let target = match.output[1].substring else { continue }
        let path = SourceTree.root.appendingPathComponent(folder + target).standardized.path
        #expect(FileManager.default.fileExists(atPath: path), "\(page) points to \(target)")
      }
    }
  }

  /// Operators who repair a store by hand need every table on the page.
  @Test func `the storage page lists every table`() throws {
    let page = try SourceTree.text("docs/storage.md")
    let schema = try SourceTree.text("Sources/RelayStore/Schema.swift")
    let tables = schema.matches(of: #/CREATE TABLE (\w+)/#).map { String($0.output.1) }
    #expect(tables.count > 20)
    for table in tables {
      #expect(page.contains("| `\(table)` |"), "docs/storage.md does not tell of \(table)")
    }
  }
}
