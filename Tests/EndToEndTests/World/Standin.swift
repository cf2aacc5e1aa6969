import Foundation

/// The APNs stand-in as a separate process, and its log.
struct Standin {
  let program: Program
  let workplace: Workplace

  static func start(in workplace: Workplace, _ options: [String] = []) async throws -> Standin {
    let program = try Program(
      [
        "apns-standin", "--listen", "127.0.0.1:\(workplace.standinPort)", "--directory",
        workplace.file("apns").path,
      ] + options, in: workplace, name: "standin")
    guard await program.waitForLine("ready") else {
      throw TestFailure("the stand-in: \(program.errors)")
    }
    return Standin(program: program, workplace: workplace)
  }

  /// All logged requests, accepted or not, oldest first.
  func pushes() throws -> [JSON] {
    try JSON.lines(of: workplace.file("apns/pushes.jsonl"))
  }

  func pushes(to token: String) throws -> [JSON] {
    try pushes().filter { $0["path"].string?.hasSuffix("/" + token) == true }
  }

  /// Stops the stand-in, which has no state to save.
  func stop() { program.signal(SIGTERM) }
}

struct TestFailure: Error, CustomStringConvertible {
  var description: String
  init(_ description: String) { self.description = description }
}
