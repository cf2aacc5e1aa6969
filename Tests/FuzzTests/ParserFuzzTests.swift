import Foundation
import Testing

/// No bytes make a parser trap or run for long, and no value changes when it is written and read
/// again. Each parser reads its seeds, the inputs in `Corpus`, and new inputs. By default the new
/// inputs are the same in every run, so that a run can be repeated; `ZONERELAY_FUZZ_SECONDS` gives
/// other inputs for that time. An input that breaks a promise stays in a file that the report
/// names. So does the input that is being read when the process ends. `make fuzz` is guided by
/// coverage.
@Suite struct ParserFuzzTests {
  @Test(arguments: FuzzedParser.shared)
  func `each parser reads or refuses any bytes`(_ parser: FuzzedParser) async throws {
    let kept = try Corpus.inputs(of: parser.name)
    // The run has a thread of its own, because some parsers wait for tasks, which need the other
    // threads.
    let found = try await withCheckedThrowingContinuation { done in
      let thread = Thread {
        done.resume(with: Result { try FuzzRun(parser).all(kept) })
      }
      thread.stackSize = 8 << 20
      thread.start()
    }
    for report in found { Issue.record("\(report)") }
  }
}

extension FuzzedParser {
  /// All parsers. With `ZONERELAY_FUZZ_SHARE=2/4`, only the second of four parts of the parsers, so
  /// that four processes share the work.
  fileprivate static var shared: [FuzzedParser] {
    guard let text = ProcessInfo.processInfo.environment["ZONERELAY_FUZZ_SHARE"] else { return all }
    let numbers = text.split(separator: "/").compactMap { Int($0) }
    precondition(
      numbers.count == 2 && 1...numbers[1] ~= numbers[0],
      "ZONERELAY_FUZZ_SHARE is a number of a number, such as 2/4")
    return all.enumerated().filter { $0.offset % numbers[1] == numbers[0] - 1 }.map(\.element)
  }
}

/// Inputs kept with the sources, one in each file: inputs that once made a parser fail, and inputs
/// that reach deep into its code.
enum Corpus {
  static let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Corpus")

  static func inputs(of name: String) throws -> [[UInt8]] {
    let folder = directory.appendingPathComponent(name)
    guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map {
      [UInt8](try Data(contentsOf: folder.appendingPathComponent($0)))
    }
  }
}
