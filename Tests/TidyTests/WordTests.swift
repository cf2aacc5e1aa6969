import Testing

/// Names without a meaning, and code that hides a failure.
@Suite struct WordTests {
  /// Endings of type and file names that say nothing about the thing.
  private static let empty = [
    "Manager", "Helper", "Util", "Utils", "Misc", "Impl", "Base", "Common",
  ]

  @Test func `no type or file name ends with a meaningless word`() throws {
    var found: [String] = []
    for file in try SourceTree.swift("Sources", "Tests") {
      let stem = file.name.replacing(".swift", with: "")
      if Self.empty.contains(where: stem.hasSuffix) { found.append(file.path) }
      for (index, line) in file.code.enumerated() {
        for name in Self.declared(line) where Self.empty.contains(where: name.hasSuffix) {
          found.append("\(file.place(index)): \(name)")
        }
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  private static func declared(_ line: String) -> [String] {
    let words = line.split { " :<({,".contains($0) }.map(String.init)
    return zip(words, words.dropFirst()).compactMap { keyword, name in
      ["struct", "class", "enum", "protocol", "actor", "typealias"].contains(keyword) ? name : nil
    }
  }

  /// The libraries for apps, which use the words of CloudKit's clients. The daemon contains no part
  /// of these libraries.
  private static let libraries = ["ZoneRelayClient", "ZoneRelayTesting"]

  /// The sample for app teams, which is a program of its own.
  private static let sample = "zonerelay-notes"

  /// A name has one meaning in the whole product. A nested type is distinguished by its enclosing
  /// type.
  @Test func `no two types share a name`() throws {
    var places: [String: [String]] = [:]
    for file in try SourceTree.swift("Sources") {
      let product =
        Self.libraries.contains(file.room) ? "app's " : file.room == Self.sample ? "sample's " : ""
      for (index, line) in file.code.enumerated()
      where line.first?.isLetter == true && !line.hasPrefix("extension ") {
        for name in Self.declared(line) {
          places[product + name, default: []].append(file.place(index))
        }
      }
    }
    #expect(places.count > 300)
    let found = places.filter { $0.value.count > 1 }.sorted { $0.key < $1.key }
    #expect(
      found.isEmpty,
      "\(found.map { "\($0.key): \($0.value.joined(separator: ", "))" }.joined(separator: "\n"))")
  }

  @Test func `the sources contain no notes about unfinished work`() throws {
    let later = ["TO" + "DO", "FIX" + "ME", "X" + "XX:"]
    let found = try SourceTree.swift("Sources", "Tests").flatMap { file in
      file.lines.enumerated().filter { line in later.contains { line.element.contains($0) } }
        .map { "\(file.place($0.offset)): \($0.element)" }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// Swift compares texts by Unicode's rules. With an attacker's text the comparison can take
  /// minutes.
  @Test func `callers' texts are compared byte by byte`() throws {
    let compared =
      #/(switch|==|!=|rawValue:|contains\(|insert\().*\.string\(\)|\.string\(\)\)? *[=!]=/#
    let safe = ["Spelled(", "ByteOrdered.", "(spelled:", "(name:", ".insert(.string("]
    let files = try SourceTree.swift("Sources/RelayHTTP", "Sources/RelayWire")
    let found = files.flatMap { file in
      file.code.enumerated().filter { _, line in
        line.contains(compared) && !safe.contains(where: line.contains)
      }.map { "\(file.place($0.offset)): compare with Spelled or ByteOrdered: \($0.element)" }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// A dropped failure and a promise that the compiler cannot check need a reason beside them.
  @Test func `every ignored error and unchecked promise has a stated reason`() throws {
    var found: [String] = []
    for file in try SourceTree.swift("Sources") {
      for (index, line) in file.code.enumerated() {
        if line.split(separator: " ").contains("try?"), !file.isExplained(index, within: 3) {
          found.append("\(file.place(index)): try? without a reason")
        }
        let isPromise = line.contains("@unchecked Sendable") || line.contains("nonisolated(unsafe)")
        if isPromise, !file.isExplained(index, within: 3) {
          found.append("\(file.place(index)): an unchecked promise without a reason")
        }
        if line.contains("fatalError(") { found.append("\(file.place(index)): fatalError") }
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// Places where a task serves many callers, and none of them is its parent.
  private static let shared = ["/Daemon.swift", "/zonerelay-notes/Phone/RecordServerClient.swift"]

  /// Every task has a parent task. Only the composition root may start a task without one, and so
  /// may the client's library, whose work serves many callers of which none is its parent.
  @Test func `only the daemon's root starts unstructured tasks`() throws {
    var found: [String] = []
    for file in try SourceTree.swift("Sources")
    where !Self.shared.contains(where: file.path.hasSuffix)
      && !Self.libraries.contains(file.room)
    {
      for (index, line) in file.code.enumerated() {
        let words = line.split { " =(".contains($0) }
        let starts = zip(words, words.dropFirst()).contains { $0 == "Task" && $1.hasPrefix("{") }
        if starts || line.contains("Task.detached") {
          found.append("\(file.place(index)): an unstructured task")
        }
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// Tests wait for an event, never for time to pass.
  @Test func `tests wait for events and never sleep`() throws {
    let sleeps = ["Task" + ".sleep", "us" + "leep(", "Thread" + ".sleep"]
    let found = try SourceTree.swift("Tests").flatMap { file in
      file.code.enumerated().filter { line in sleeps.contains { line.element.contains($0) } }
        .map { file.place($0.offset) }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }

  /// The project names no path of a developer's machine.
  @Test func `the project contains no path of a developer's machine`() throws {
    let places = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/"]
    var files = try SourceTree.swift("Sources", "Tests").map(\.path)
    for folder in ["docs", "config", "systemd", ".ci"] {
      files += try SourceTree.paths(folder) { !$0.hasSuffix(".png") }
    }
    files += ["README.md", "CHANGELOG.md", "Makefile", "Package.swift"]
    var found: [String] = []
    for path in files {
      let lines = try SourceTree.text(path).split(separator: "\n", omittingEmptySubsequences: false)
      for (index, line) in lines.enumerated() where places.contains(where: line.contains) {
        found.append("\(path):\(index + 1): \(line)")
      }
    }
    #expect(found.isEmpty, "\(found.joined(separator: "\n"))")
  }
}
