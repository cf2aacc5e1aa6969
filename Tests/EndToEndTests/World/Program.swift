import Foundation

/// The built binary, or another program, run as a child process.
///
/// Output goes to files instead of pipes. A child that another test starts at the same moment can
/// inherit a pipe's end, and then the pipe never ends. Nothing here blocks a thread.
final class Program: Sendable {
  struct Ended: Sendable {
    var status: Int32
    var output: String
    var errors: String
  }

  private let process = Process()
  private let outputFile: URL
  private let errorsFile: URL

  /// The built `zonerelay`, which is in the same directory as the test bundle.
  static var binary: URL {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    return bundle.deletingLastPathComponent().appendingPathComponent("zonerelay")
  }

  init(
    _ arguments: [String], in workplace: Workplace, name: String, program: URL = Program.binary
  ) throws {
    let unique = "\(name)-\(UUID().uuidString.prefix(8))"
    outputFile = workplace.file("\(unique).out")
    errorsFile = workplace.file("\(unique).log")
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try Self.file(outputFile)
    process.standardError = try Self.file(errorsFile)
    try process.run()
    workplace.started.add(process)
  }

  private static func file(_ place: URL) throws -> FileHandle {
    try Data().write(to: place)
    return try FileHandle(forWritingTo: place)
  }

  var pid: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  /// The program's output so far. An unreadable file counts as empty.
  var output: String { (try? String(contentsOf: outputFile, encoding: .utf8)) ?? "" }
  // An unreadable file counts as empty here as well.
  var errors: String { (try? String(contentsOf: errorsFile, encoding: .utf8)) ?? "" }

  /// Waits until stdout has this line; false if the program ended without it.
  func waitForLine(_ line: String) async -> Bool {
    await Pause.until { self.hasSaid(line) || !self.isRunning }
    return hasSaid(line)
  }

  private func hasSaid(_ line: String) -> Bool {
    output.split(separator: "\n").contains(Substring(line))
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits until the program exits, and kills it after `seconds` (two minutes by default). The
  /// status shows the kill.
  @discardableResult
  func wait(seconds: Int = 120) async -> Ended {
    if await !Pause.until(seconds: seconds, { !self.isRunning }) {
      signal(SIGKILL)
      await Pause.until { !self.isRunning }
    }
    return Ended(status: process.terminationStatus, output: output, errors: errors)
  }

  /// Runs the program until it exits.
  static func run(_ arguments: [String], in workplace: Workplace) async throws -> Ended {
    await (try Program(arguments, in: workplace, name: "run")).wait()
  }
}
