import Testing

/// Bounds for lines, functions and files.
@Suite struct FormTests {
  private static let linesOfFileMax = 400
  /// The most lines of each file of `Partition`, which passes facts on to its parts.
  private static let linesOfPartitionMax = 300
  private static let linesOfFunctionMax = 60
  private static let columnsMax = 100

  @Test func `no file has too many lines`() throws {
    let found = try SourceTree.swift("Sources", "Tests").filter {
      let isPartition = $0.path.hasPrefix("Sources/RelayCore/Partition")
      return $0.lines.count - 1 > (isPartition ? Self.linesOfPartitionMax : Self.linesOfFileMax)
    }.map { "\($0.path) has \($0.lines.count - 1) lines" }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test func `no line has too many columns`() throws {
    let found = try SourceTree.swift("Sources", "Tests").flatMap { file in
      file.lines.enumerated().filter { $0.element.count > Self.columnsMax }.map {
        "\(file.place($0.offset)) has \($0.element.count) columns"
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  @Test func `no function has too many lines`() throws {
    var (found, seen): ([String], Int) = ([], 0)
    for file in try SourceTree.swift("Sources", "Tests") {
      for (start, length) in Self.functions(file) {
        seen += 1
        if length > Self.linesOfFunctionMax {
          found.append("\(file.place(start)): a function of \(length) lines")
        }
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
    #expect(seen > 100)
  }

  /// Functions with their lengths, found by their indentation, which the formatter keeps.
  private static func functions(_ file: SourceFile) -> [(start: Int, length: Int)] {
    file.code.indices.compactMap { start in
      guard beginsFunction(file.code[start]) else { return nil }
      let depth = indentation(file.code[start])
      var isOpen = false
      for end in start..<file.code.count {
        let line = file.code[end]
        let text = line.drop { $0 == " " }
        if end > start, !text.isEmpty, indentation(line) <= depth {
          if text.hasPrefix("}") { return isOpen ? (start, end - start + 1) : nil }
          // Such a line continues the signature; any other text means that there is no body.
          guard text.hasPrefix(")") || text.hasPrefix("{") || text.hasPrefix("where") else {
            return nil
          }
        }
        if text.hasSuffix("{") { isOpen = true }
      }
      return nil
    }
  }

  private static func beginsFunction(_ line: String) -> Bool {
    let words = line.split { $0 == " " || $0 == "(" || $0 == "<" || $0 == "?" }
    guard let place = words.firstIndex(where: { $0 == "func" || $0 == "init" || $0 == "deinit" })
    else { return false }
    return words[..<place].allSatisfy {
      $0.hasPrefix("@") || modifiers.contains(String($0)) || $0.hasSuffix(")")
    }
  }

  private static let modifiers: Set<String> = [
    "public", "package", "private", "fileprivate", "internal", "static", "mutating", "nonisolated",
    "override", "convenience", "required", "final", "consuming", "borrowing", "class",
  ]

  private static func indentation(_ line: String) -> Int { line.prefix { $0 == " " }.count }
}
