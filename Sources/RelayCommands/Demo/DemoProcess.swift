import Foundation

/// A second process that runs this same binary.
final class DemoProcess {
  private let process = Process()
  private let output = Pipe()
  private let log: String

  init(_ arguments: [String], log: String) throws {
    self.log = log
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = arguments
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    guard FileManager.default.createFile(atPath: log, contents: nil),
      let file = FileHandle(forWritingAtPath: log)
    else { throw Failure(.failed, "cannot write \(log)") }
    process.standardError = file
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// The process's messages, which show why the process ended.
  var talk: String {
    (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""  // A missing file means no text.
  }

  /// Waits for a line `ready` on the process's stdout.
  func waitForReady() throws {
    var seen = Data()
    while !String(decoding: seen, as: UTF8.self).contains("ready\n") {
      let chunk = output.fileHandleForReading.availableData
      guard !chunk.isEmpty else { throw ended }
      seen.append(chunk)
    }
  }

  var ended: Failure { Failure(.failed, "a part of the demo ended early: \(talk)") }

  func stop() {
    process.terminate()
    process.waitUntilExit()
  }
}
