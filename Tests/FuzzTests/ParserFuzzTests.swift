import Foundation
import Testing

/// No bytes make a parser trap, run for long or read back as something else. Each parser reads its
/// seeds, what `Corpus` keeps, and new inputs for `ZONERELAY_FUZZ_SECONDS` (5). The input that is
/// being read stands in a file, which names it if the process ends. `make fuzz` is guided by
/// coverage.
@Suite struct ParserFuzzTests {
  @Test(arguments: FuzzedParser.all)
  func readsOrRefusesAnyBytes(_ parser: FuzzedParser) throws {
    let seconds = Double(ProcessInfo.processInfo.environment["ZONERELAY_FUZZ_SECONDS"] ?? "5")
    let kept = try Corpus.inputs(of: parser.name)
    let note = try InputNote(parser.name)
    defer { note.remove() }
    for input in parser.seeds + kept { try read(input, parser, note) }
    var mutator = Mutator(parser, kept: kept, seed: UInt64.random(in: .min ... .max))
    let end = ContinuousClock.now + .seconds(try #require(seconds))
    var count = 0
    while count < 1_000 || .now < end {
      try read(mutator.next(), parser, note)
      count += 1
    }
  }

  /// Longer than any input of 64 KiB may take, on a busy machine too.
  private static let patience = Duration.seconds(10)

  private func read(_ input: [UInt8], _ parser: FuzzedParser, _ note: InputNote) throws {
    try note.write(input)
    let begin = ContinuousClock.now
    parser.read(input)
    let took = ContinuousClock.now - begin
    #expect(took < Self.patience, "\(parser.name) read \(input.count) bytes for \(took)")
  }
}

/// Inputs that are kept with the sources, one a file: those that once made a parser fail, and those
/// that reach far into it.
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

/// The input that is being read, in a file: a trap ends the process, and the file says by what.
struct InputNote {
  private let file: FileHandle
  private let path: String

  init(_ name: String) throws {
    path = NSTemporaryDirectory() + "zonerelay-fuzz-\(name)-\(UUID().uuidString)"
    try #require(FileManager.default.createFile(atPath: path, contents: nil))
    file = try #require(FileHandle(forWritingAtPath: path))
  }

  func write(_ input: [UInt8]) throws {
    try file.truncate(atOffset: 0)
    try file.write(contentsOf: Data(input))
  }

  func remove() {
    // A file of a test that passed; the system cleans up what stays.
    try? FileManager.default.removeItem(atPath: path)
  }
}
