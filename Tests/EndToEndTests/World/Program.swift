import Foundation
import Synchronization

/// The built binary, run as a child process.
final class Program: Sendable {
  struct Ended: Sendable {
    var status: Int32
    var output: String
    var errors: String
  }

  private let process: Process
  private let output: Pipe
  private let errorsFile: URL

  /// Where the package's products are: beside the test bundle.
  static var binary: URL {
    let bundle = URL(fileURLWithPath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    return bundle.deletingLastPathComponent().appendingPathComponent("zonerelay")
  }

  init(_ arguments: [String], in workplace: Workplace, name: String) throws {
    process = Process()
    process.executableURL = Self.binary
    process.arguments = arguments
    output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    errorsFile = workplace.file("\(name)-\(UUID().uuidString.prefix(8)).log")
    _ = FileManager.default.createFile(atPath: errorsFile.path, contents: nil)
    process.standardError = try FileHandle(forWritingTo: errorsFile)
    try process.run()
  }

  var pid: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  /// What it said on stderr so far.
  var errors: String {
    (try? String(contentsOf: errorsFile, encoding: .utf8)) ?? ""  // Unreadable is as good as silent.
  }

  /// Reads its stdout up to a line; false if it ended without it.
  func waitForLine(_ line: String) -> Bool {
    var seen = Data()
    while true {
      let chunk = output.fileHandleForReading.availableData
      if chunk.isEmpty { return false }
      seen.append(chunk)
      if String(decoding: seen, as: UTF8.self).split(separator: "\n").contains(Substring(line)) {
        return true
      }
    }
  }

  func signal(_ number: Int32) { kill(process.processIdentifier, number) }

  /// Waits for its end.
  @discardableResult
  func wait() -> Ended {
    let text = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return Ended(
      status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
      errors: errors)
  }

  /// Runs it to its end.
  static func run(_ arguments: [String], in workplace: Workplace) throws -> Ended {
    try Program(arguments, in: workplace, name: "run").wait()
  }
}
