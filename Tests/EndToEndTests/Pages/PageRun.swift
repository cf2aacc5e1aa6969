import Foundation
import Testing

/// A run of a page's shell blocks, in order and in one shell, as a reader types them.
struct PageRun {
  let page: Page
  let ended: Program.Ended
  private let steps: Set<Int>
  private let outputs: [String]

  /// Saves the page's files, runs its blocks, and compares what they print with what the page says.
  ///
  /// - Parameters:
  ///   - before: lines of shell that stand for what the reader has done before.
  ///   - need: a program. If it is set, only the blocks that need it are run; if it is nil, only
  ///     the blocks that need no program.
  ///   - places: texts on the page, such as the reader's paths and addresses, each with the test's
  ///     own text.
  @discardableResult
  static func run(
    _ page: Page, in workplace: Workplace, before: String, with need: String? = nil,
    replacing places: [(String, String)] = []
  ) async throws -> PageRun {
    #expect(page.unused.isEmpty, "\(page.unused.map(page.place)): blocks that no test uses")
    func local(_ text: String) -> String {
      places.reduce(text) { $0.replacing($1.0, with: $1.1) }
    }
    for block in page.blocks {
      guard let name = Page.value("file", of: block) else { continue }
      try local(block.text).write(to: workplace.file(name), atomically: true, encoding: .utf8)
    }
    let script = workplace.file("page.sh")
    let steps = page.blocks.indices.filter { isStep(page.blocks[$0], need) }
    let text = steps.map { index in
      let block = page.blocks[index]
      return """
        exec >\(workplace.file(output(index)).path)
        echo '\(page.place(block))' >&2
        \(local(block.text))
        """
    }
    let start = "set -euo pipefail\ncd \(workplace.directory.path)\n\(before)\n"
    try (start + text.joined(separator: "\n")).write(
      to: script, atomically: true, encoding: .utf8)
    let ended = try await Program(
      [script.path], in: workplace, name: "page", program: URL(fileURLWithPath: "/bin/bash")
    ).wait()
    let outputs = page.blocks.indices.map { index in
      // A block has no output if this run leaves it out, or if the script ends before it.
      (try? String(contentsOf: workplace.file(output(index)), encoding: .utf8)) ?? ""
    }
    let last = outputs.last { !$0.isEmpty } ?? ""
    #expect(ended.status == 0, "the last place is where it failed: \(ended.errors)\n\(last)")
    let run = PageRun(page: page, ended: ended, steps: Set(steps), outputs: outputs)
    run.checkOutputs(local)
    return run
  }

  private static func isStep(_ block: Page.Block, _ need: String?) -> Bool {
    block.language == "sh"
      && (block.mark.isEmpty ? need == nil : Page.value("with", of: block) == need && need != nil)
  }

  private static func output(_ index: Int) -> String { "block-\(index).out" }

  /// What the page's blocks of code have printed, all together.
  var output: String { outputs.joined() }

  private func checkOutputs(_ local: (String) -> String) {
    for (index, block) in page.blocks.enumerated() where block.mark == "prints" {
      guard let step = page.blocks[..<index].lastIndex(where: { $0.language == "sh" }),
        steps.contains(step)
      else { continue }
      let actual = lines(outputs[step])
      let expected = lines(local(block.text))
      let isSame =
        actual.count == expected.count
        && zip(expected, actual).allSatisfy { Self.matches($0, $1) }
      #expect(isSame, "\(page.place(block)) says \(expected), and the block prints \(actual)")
    }
  }

  private func lines(_ text: String) -> [String] {
    text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.isEmpty }
  }

  /// Whether a line is as the page says, where `…` stands for any text.
  private static func matches(_ pattern: String, _ line: String) -> Bool {
    let parts = pattern.components(separatedBy: "…")
    guard parts.count > 1 else { return pattern == line }
    guard line.hasPrefix(parts[0]), line.hasSuffix(parts[parts.count - 1]) else { return false }
    var rest = line.dropFirst(parts[0].count)
    for part in parts.dropFirst() where !part.isEmpty {
      guard let found = rest.range(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }

  /// Compares each Swift sample of a page with the source that the tests compile.
  static func compareSamples(of page: Page) throws {
    var seen = 0
    for block in page.blocks {
      guard let name = Page.value("sample", of: block) else { continue }
      seen += 1
      let compiled = try Page.sample(name)
      #expect(block.text == compiled, "\(page.place(block)) is not the compiled \(name)")
    }
    #expect(seen > 0, "\(page.path) has no sample")
  }
}
