import Foundation

/// Gives one parser all its inputs, one after the other. The run blocks the thread of its caller.
struct FuzzRun {
  private let parser: FuzzedParser
  private let note: InputNote
  private var count = 0
  private var found: [String] = []

  /// The error of a run that stops without a defect of the parser: an environment variable is no
  /// number, or a file cannot be made.
  struct Unusable: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
  }

  /// More time than any input of 64 KiB may take, on a busy machine too.
  private static let patience = Duration.seconds(10)
  /// At most this many reports in a run. More would fill the log if many inputs show one defect.
  private static let reportsMax = 3

  init(_ parser: FuzzedParser) throws {
    self.parser = parser
    note = try InputNote(parser.name)
  }

  /// - Returns: the defects found, with the inputs that show them.
  consuming func all(_ kept: [[UInt8]]) throws -> [String] {
    defer { note.remove() }
    for input in parser.seeds + kept { try read(input) }
    if let text = ProcessInfo.processInfo.environment["ZONERELAY_FUZZ_SECONDS"] {
      guard let seconds = Double(text) else {
        throw Unusable(reason: "ZONERELAY_FUZZ_SECONDS is no number: \(text)")
      }
      let seed = UInt64.random(in: .min ... .max)
      print("\(parser.name): inputs for \(seconds) s from the random seed \(seed)")
      var mutator = Mutator(parser, kept: kept, seed: seed)
      let end = ContinuousClock.now + .seconds(seconds)
      while .now < end, goesOn { try read(mutator.next()) }
      print("\(parser.name): \(count) inputs")
    } else {
      var mutator = Mutator(parser, kept: kept, seed: parser.seed)
      for _ in 0..<parser.inputs where goesOn { try read(mutator.next()) }
    }
    return found
  }

  private var goesOn: Bool { found.count < Self.reportsMax }

  private mutating func read(_ input: [UInt8]) throws {
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
    let path = try note.keep(input, number: found.count + 1)
    let text = Data(input.prefix(4_096)).base64EncodedString()
    found.append("\(parser.name): \(reason)\ninput: \(path)\nin base64: \(text)")
  }
}

extension FuzzedParser {
  /// How many new inputs a run reads when no time is set. These inputs take a few seconds.
  fileprivate var inputs: Int {
    switch name {
    case "store-files": 100
    case "api-connection", "control-connection": 3_000
    case "configuration", "pem": 8_000
    default: 30_000
    }
  }

  /// The FNV-1a hash of the name, so that every run has the same seed.
  fileprivate var seed: UInt64 {
    name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
  }
}

/// A file with the current input: a trap ends the process, and the file shows the cause.
struct InputNote: Sendable {
  private let file: FileHandle
  private let path: String

  init(_ name: String) throws {
    path = NSTemporaryDirectory() + "zonerelay-fuzz-\(name)-\(UUID().uuidString)"
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let file = FileHandle(forWritingAtPath: path)
    else { throw FuzzRun.Unusable(reason: "\(path) cannot be written") }
    self.file = file
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
    // The run has ended; the system cleans up files that stay.
    try? FileManager.default.removeItem(atPath: path)
  }
}
