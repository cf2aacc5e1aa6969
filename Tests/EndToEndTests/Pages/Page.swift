import Foundation

/// A page of the documentation, and the code on it.
///
/// A comment in the line before a block says what the test does with the block:
///
/// | comment | the block |
/// | --- | --- |
/// | none, at a block of `sh` | is run by bash, after the blocks before it |
/// | `with: NAME` | is run by bash where this program is installed |
/// | `file: NAME` | is saved as that file before anything is run |
/// | `prints` | is what the block before it prints; `…` stands for any text of one line |
/// | `sample: NAME` | is part of a Swift file that the tests compile |
/// | `not run: REASON` | is for the reader alone |
struct Page: Sendable {
  struct Block: Sendable {
    var line: Int
    var language: String
    var mark: String
    var text: String
  }

  let path: String
  let blocks: [Block]

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  init(_ path: String) throws {
    self.path = path
    blocks = Self.blocks(
      of: try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8))
  }

  private static func blocks(of text: String) -> [Block] {
    let lines = text.components(separatedBy: "\n")
    var blocks: [Block] = []
    var open: Block?
    for (index, line) in lines.enumerated() {
      if let block = open {
        if line == "```" {
          blocks.append(block)
          open = nil
        } else {
          open?.text += line + "\n"
        }
      } else if line.hasPrefix("```") {
        let mark = index > 0 ? Self.comment(lines[index - 1]) : ""
        open = Block(line: index + 1, language: String(line.dropFirst(3)), mark: mark, text: "")
      }
    }
    return blocks
  }

  private static func comment(_ line: String) -> String {
    guard line.hasPrefix("<!-- "), line.hasSuffix(" -->") else { return "" }
    return String(line.dropFirst(5).dropLast(4))
  }

  func place(_ block: Block) -> String { "\(path):\(block.line)" }

  /// What follows a word and a colon in a block's comment; nil if the comment has another word.
  static func value(_ word: String, of block: Block) -> String? {
    block.mark.hasPrefix("\(word): ") ? String(block.mark.dropFirst(word.count + 2)) : nil
  }

  /// The page's blocks of code that no test uses, because their comments are missing or unknown.
  var unused: [Block] {
    blocks.filter { block in
      let isKnown = ["with", "file", "sample", "not run"].contains {
        Self.value($0, of: block) != nil
      }
      return !(block.mark.isEmpty && block.language == "sh") && block.mark != "prints" && !isKnown
    }
  }

  private static let samples = "Tests/EndToEndTests/Pages/Samples"

  /// The lines of a sample in one of the compiled sources, without the indentation that all of them
  /// have. A comment before the sample names it, and a comment behind it ends it.
  static func sample(_ name: String) throws -> String {
    for file in try FileManager.default.contentsOfDirectory(
      atPath: root.appendingPathComponent(samples).path)
    {
      let source = try String(
        contentsOf: root.appendingPathComponent("\(samples)/\(file)"), encoding: .utf8)
      let lines = source.components(separatedBy: "\n")
      func place(_ mark: String, from start: Int) -> Int? {
        lines[start...].firstIndex { $0.trimmingCharacters(in: .whitespaces) == mark }
      }
      let head = "// The pages show the lines from here as their sample \"\(name)\"."
      guard let start = place(head, from: 0),
        let end = place("// The sample ends here.", from: start)
      else { continue }
      let part = lines[(start + 1)..<end]
      let depth = part.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
      return part.map { $0.dropFirst(depth) + "\n" }.joined()
    }
    throw TestFailure("\(samples) has no sample \(name)")
  }
}
