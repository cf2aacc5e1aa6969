import Foundation
import Testing

/// The words that names in the sources are made of.
@Suite struct VocabularyTests {
  /// A name in the code is made of English words and technical terms, which are in `Words.txt`, and
  /// of the project's own words, which are in the glossary.
  @Test func `every word in a name is in the word list or the glossary`() throws {
    let known = try Self.listed().union(Self.ofGlossary())
    var (found, seen): ([String: String], Set<String>) = ([:], [])
    for file in try SourceTree.swift("Sources") {
      for (index, line) in file.code.enumerated() {
        for word in Self.words(of: line) {
          seen.insert(word)
          guard Self.stems(of: word).allSatisfy({ !known.contains($0) }) else { continue }
          found[word] = found[word] ?? file.place(index)
        }
      }
    }
    let lines = found.sorted { $0.key < $1.key }.map { "\($0.value): \($0.key)" }
    let remedy = "explain these in docs/glossary.md, or add them to Words.txt:"
    #expect(found.isEmpty, "\(remedy)\n\(lines.joined(separator: "\n"))")
    #expect(seen.count > 2_000)
  }

  /// Each listed word is part of a name. An unused word in the list would allow a new name without
  /// a check.
  @Test func `the word list contains no unused words`() throws {
    var seen: Set<String> = []
    for file in try SourceTree.swift("Sources") {
      for line in file.code { seen.formUnion(Self.words(of: line)) }
    }
    let unused = try Self.listed().subtracting(seen).sorted()
    #expect(unused.isEmpty, "take out of Words.txt: \(unused.joined(separator: " "))")
  }

  /// The word, and what remains of it without an ending of a plural, a past form or *-ing*.
  private static func stems(of word: String) -> [String] {
    [word]
      + [("ies", "y"), ("es", ""), ("s", ""), ("ed", ""), ("d", ""), ("ing", "")]
      .filter { word.hasSuffix($0.0) }.map { word.dropLast($0.0.count) + $0.1 }
  }

  private static func listed() throws -> Set<String> {
    let lines = try SourceTree.text("Tests/TidyTests/Words.txt").split(separator: "\n")
    return Set(
      lines.filter { !$0.hasPrefix("#") }.flatMap { $0.split(separator: " ") }.map(String.init))
  }

  /// The first column of the glossary's tables.
  private static func ofGlossary() throws -> Set<String> {
    let rows = try SourceTree.text("docs/glossary.md").split(separator: "\n")
      .filter { $0.hasPrefix("| ") }
    return Set(rows.flatMap { row in words(of: String(row.dropFirst(2).prefix { $0 != "|" })) })
  }

  /// A line's words in lower case: `isHTTPReady2` has *is*, *http* and *ready*. Leaves out single
  /// letters.
  private static func words(of line: String) -> Set<String> {
    var words: Set<String> = []
    let bytes = Array(line.utf8)
    var start = 0
    func isUpper(_ place: Int) -> Bool {
      place < bytes.count && UInt8(ascii: "A")...UInt8(ascii: "Z") ~= bytes[place]
    }
    func isLower(_ place: Int) -> Bool {
      place < bytes.count && UInt8(ascii: "a")...UInt8(ascii: "z") ~= bytes[place]
    }
    while start < bytes.count {
      var end = start
      while isUpper(end) { end += 1 }
      // In `HTTPReady` the last letter of `HTTPR` begins the next word.
      if end - start > 1, isLower(end) {
        end -= 1
      } else {
        while isLower(end) { end += 1 }
      }
      if end - start > 1 {
        words.insert(String(decoding: bytes[start..<end], as: UTF8.self).lowercased())
      }
      start = max(end, start + 1)
    }
    return words
  }
}
