import Testing

/// How many stored properties one type has.
@Suite struct PropertyTests {
  private static let most = 20

  /// Larger types, with their present number of properties. No type in this list may grow.
  private static let larger = [
    // The properties of these types are plain data: bounds, rows of tables, or single numbers.
    "Limits": 30, "HTTPLimits": 39, "PartitionCut": 25, "MemoryPartition": 22,
  ]

  @Test func `no type has too many stored properties`() throws {
    var found: [String] = []
    var counts: [String: Int] = [:]
    for file in try SourceTree.swift("Sources") {
      for type in Self.types(in: file) {
        counts[type.name] = max(counts[type.name] ?? 0, type.properties)
        let most = Self.larger[type.name] ?? Self.most
        guard type.properties > most else { continue }
        found.append(
          "\(file.place(type.start)): \(type.name) keeps \(type.properties) properties of \(most)")
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    #expect(counts["Partition"] == Self.most && counts["Coordinator"] == Self.most)
    for (name, most) in Self.larger.sorted(by: { $0.key < $1.key }) {
      let count = counts[name] ?? 0
      #expect(count == most, "\(name) keeps \(count) now: write that here, or take it out")
    }
  }

  /// Code in other files calls a lane's methods and sets none of its properties. For a type in one
  /// file `private` ensures this; a lane has several files.
  @Test func `a lane's properties are set in its own files only`() throws {
    let assignment = #/\blane(?:\.\w+)+ [-+*]?= /#
    let found = try SourceTree.swift("Sources/RelayCore")
      .filter { !$0.path.contains("Coalescing/Lane") }
      .flatMap { file in
        file.code.indices.filter { file.code[$0].contains(assignment) }.map { file.place($0) }
      }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  private struct Found {
    var name: String
    var start: Int
    var depth: Int
    var properties = 0
  }

  /// Types with the number of their stored properties, found by the indentation, which the
  /// formatter keeps.
  private static func types(in file: SourceFile) -> [Found] {
    var (open, all): ([Found], [Found]) = ([], [])
    for (index, line) in file.code.enumerated() {
      let depth = line.prefix { $0 == " " }.count
      guard depth < line.count, !line.hasPrefix("#") else { continue }
      while let last = open.last, depth <= last.depth { all.append(open.removeLast()) }
      if let name = declared(line) {
        if line.hasSuffix("{") { open.append(Found(name: name, start: index, depth: depth)) }
      } else if let last = open.last, depth == last.depth + 2 {
        open[open.count - 1].properties += stored(line)
      }
    }
    return all + open
  }

  private static func words(_ line: String) -> [Substring] { line.split { " :<(,".contains($0) } }

  private static func declared(_ line: String) -> String? {
    let words = words(line)
    guard
      let place = words.firstIndex(where: { ["struct", "class", "enum", "actor"].contains($0) }),
      words[..<place].allSatisfy({ modifiers.contains(String($0)) || $0.hasPrefix("@") }),
      place + 1 < words.count
    else { return nil }
    return String(words[place + 1])
  }

  /// How many stored properties a line declares: each name of a tuple counts.
  private static func stored(_ line: String) -> Int {
    let words = words(line)
    guard let place = words.firstIndex(where: { $0 == "var" || $0 == "let" }),
      words[..<place].allSatisfy({ modifiers.contains(String($0)) || $0.hasPrefix("@") })
    else { return 0 }
    // A computed value has its braces without an equals sign before them.
    if let brace = line.firstIndex(of: "{"), !line[..<brace].contains(" = ") { return 0 }
    let text = line.drop { $0 == " " }
    guard text.hasPrefix("var (") || text.hasPrefix("private var (") else { return 1 }
    return line.prefix { $0 != ")" }.count { $0 == "," } + 1
  }

  private static let modifiers: Set<String> = [
    "package", "private", "fileprivate", "internal", "public", "final", "indirect", "nonisolated",
    "set)", "private(set)", "internal(set)", "unsafe)", "weak", "unowned", "lazy",
  ]
}
