import Foundation

/// The package as files, found from the path of this file.
enum SourceTree {
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// Swift files below the folders named, in order of path.
  static func swift(_ folders: String...) throws -> [SourceFile] {
    try folders.flatMap { try paths($0) { $0.hasSuffix(".swift") } }.map(SourceFile.init)
  }

  /// Paths relative to the root, in order.
  static func paths(_ folder: String, where isWanted: (String) -> Bool) throws -> [String] {
    let base = root.appendingPathComponent(folder)
    return try FileManager.default.subpathsOfDirectory(atPath: base.path)
      .filter { path in
        let isFolder = base.appendingPathComponent(path).hasDirectoryPath
        return !isFolder && isWanted(path)
      }
      .sorted().map { "\(folder)/\($0)" }
  }

  static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
  }
}

/// A Swift file by lines: as written, and without texts and comments.
struct SourceFile {
  let path: String
  let lines: [String]
  /// `lines` without comments, and with every text between quotation marks empty.
  let code: [String]

  init(path: String) throws {
    self.path = path
    lines = try SourceTree.text(path).split(
      separator: "\n", omittingEmptySubsequences: false
    ).map(String.init)
    code = Self.code(of: lines)
  }

  var room: String { path.split(separator: "/").dropFirst().first.map(String.init) ?? "" }
  var name: String { path.split(separator: "/").last.map(String.init) ?? "" }

  func place(_ index: Int) -> String { "\(path):\(index + 1)" }

  /// True if the line, or one of the `above` lines before it, has a comment. The comment should say
  /// why the line is as it is.
  func isExplained(_ index: Int, within above: Int) -> Bool {
    lines[max(0, index - above)...index].contains { $0.contains("//") }
  }

  private static func code(of lines: [String]) -> [String] {
    var isText = false
    return lines.map { line in
      let marks = line.components(separatedBy: "\"\"\"").count - 1
      defer { if !marks.isMultiple(of: 2) { isText.toggle() } }
      if isText { return "" }
      return blanked(marks > 0 ? String(line.prefix { $0 != "\"" }) : line)
    }
  }

  /// One line, without the texts between quotation marks, and without `//` and all that follows it.
  private static func blanked(_ line: String) -> String {
    var (result, isText, isEscaped) = ("", false, false)
    for character in line {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if character == "\\" {
          isEscaped = true
        } else if character == "\"" {
          isText = false
          result.append(character)
        }
        continue
      }
      if character == "\"" { isText = true }
      result.append(character)
      if result.hasSuffix("//") { return String(result.dropLast(2)) }
    }
    return result
  }
}
