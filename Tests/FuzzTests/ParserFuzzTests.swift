import Foundation
import Testing

/// No bytes make a parser trap, run for long or read back as something else. Each parser reads its
/// seeds, what `Corpus` keeps, and new inputs: by default the same ones in every run, so that a run
/// can be repeated; with `ZONERELAY_FUZZ_SECONDS` others for so long. An input that breaks a promise
/// stays in a file that the report names. So does the input that is being read when the process
/// ends. `make fuzz` is guided by coverage.
@Suite struct ParserFuzzTests {
  @Test(arguments: FuzzedParser.all)
  func readsOrRefusesAnyBytes(_ parser: FuzzedParser) throws {
    let kept = try Corpus.inputs(of: parser.name)
    var run = try Run(parser)
    defer { run.note.remove() }
    for input in parser.seeds + kept { try run.read(input) }
    if let text = ProcessInfo.processInfo.environment["ZONERELAY_FUZZ_SECONDS"] {
      let seconds = try #require(Double(text), "ZONERELAY_FUZZ_SECONDS is no number")
      let seed = UInt64.random(in: .min ... .max)
      print("\(parser.name): inputs for \(seconds) s from the random seed \(seed)")
      var mutator = Mutator(parser, kept: kept, seed: seed)
      let end = ContinuousClock.now + .seconds(seconds)
      while .now < end, run.goesOn { try run.read(mutator.next()) }
      print("\(parser.name): \(run.count) inputs")
    } else {
      var mutator = Mutator(parser, kept: kept, seed: parser.seed)
      for _ in 0..<parser.inputs where run.goesOn { try run.read(mutator.next()) }
    }
  }

  private struct Run {
    let parser: FuzzedParser
    let note: InputNote
    private(set) var count = 0
    private var defects = 0

    /// Longer than any input of 64 KiB may take, on a busy machine too.
    private static let patience = Duration.seconds(10)
    /// Enough to see what is wrong; a defect of many inputs would fill the log.
    private static let defectsMax = 3

    init(_ parser: FuzzedParser) throws {
      self.parser = parser
      note = try InputNote(parser.name)
    }

    var goesOn: Bool { defects < Self.defectsMax }

    mutating func read(_ input: [UInt8]) throws {
      try note.write(input)
      count += 1
      let begin = ContinuousClock.now
      do throws(FuzzedParser.Defect) {
        try parser.read(input)
      } catch {
        try report(error.reason, input)
      }
      let took = ContinuousClock.now - begin
      if took > Self.patience { try report("\(input.count) bytes took \(took)", input) }
    }

    private mutating func report(_ reason: String, _ input: [UInt8]) throws {
      defects += 1
      let path = try note.keep(input, number: defects)
      let text = Data(input.prefix(4_096)).base64EncodedString()
      Issue.record("\(parser.name): \(reason)\ninput: \(path)\nin base64: \(text)")
    }
  }
}

extension FuzzedParser {
  /// How many inputs an ordinary run makes.
  fileprivate var inputs: Int { 20_000 }

  /// The same in every run: FNV-1a of the name.
  fileprivate var seed: UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
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

  /// Puts an input into a file that stays.
  func keep(_ input: [UInt8], number: Int) throws -> String {
    let kept = "\(path)-\(number)"
    try Data(input).write(to: URL(fileURLWithPath: kept))
    return kept
  }

  func remove() {
    // A file of a run that ended; the system cleans up what stays.
    try? FileManager.default.removeItem(atPath: path)
  }
}
