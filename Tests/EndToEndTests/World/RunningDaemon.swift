import Foundation
import RelayCurl

/// The built daemon as a running process.
struct RunningDaemon {
  let program: Program
  let workplace: Workplace
  let web: Web

  /// - Parameter through: a program and its arguments that become the daemon, such as `env`.
  static func start(
    in workplace: Workplace, through: [String] = []
  ) async throws -> RunningDaemon {
    let command = ["serve", "--config", workplace.configPath]
    let program =
      through.isEmpty
      ? try Program(command, in: workplace, name: "serve")
      : try Program(
        Array(through.dropFirst()) + [Program.binary.path] + command, in: workplace, name: "serve",
        program: URL(fileURLWithPath: through[0]))
    let daemon = RunningDaemon(
      program: program, workplace: workplace, web: Web(base: workplace.api))
    try await daemon.waitUntilReady()
    return daemon
  }

  /// Returns when the daemon is ready, or throws why it is not ready, after a minute at most.
  private func waitUntilReady() async throws {
    let end = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < end {
      guard program.isRunning else { throw TestFailure("the daemon ended: \(program.errors)") }
      // The request fails until the daemon listens.
      if let answer = try? await web.send("GET", "/health/ready", []), answer.status == 200 {
        return
      }
      await Pause.short()
    }
    throw TestFailure("not ready within a minute: \(program.errors)")
  }

  func stop() async -> Program.Ended {
    program.signal(SIGTERM)
    return await program.wait()
  }

  func kill() async {
    program.signal(SIGKILL)
    await program.wait()
  }

  /// Uses the control socket directly: to start a `zonerelay` command for each call would take
  /// longer than what the tests measure.
  func control(_ path: String) async throws -> JSON {
    let answer = try await ControlClient(socket: workplace.controlSocket).get(path)
    return JSON(data: Data(answer.body))
  }

  func metrics() async throws -> String {
    let answer = try await ControlClient(socket: workplace.controlSocket).get("/metrics")
    return String(decoding: answer.body, as: UTF8.self)
  }

  /// A metric's value. For a metric with labels, the sum over its lines.
  ///
  /// - Parameter label: only lines with this label count, such as `transport="apns"`.
  func metric(_ name: String, label: String? = nil) async throws -> Double {
    let values = try await metrics().split(separator: "\n").filter {
      ($0.hasPrefix(name + " ") || $0.hasPrefix(name + "{")) && $0.contains(label ?? name)
    }.map { line in
      guard let value = line.split(separator: " ").last.flatMap({ Double($0) }) else {
        throw TestFailure("no number: \(line)")
      }
      return value
    }
    guard !values.isEmpty else { throw TestFailure("there is no metric \(name) \(label ?? "")") }
    return values.reduce(0, +)
  }

  /// Pushes to Apple that ended without an answer, so their outcome is unknown.
  func unanswered() async throws -> Int {
    Int(try await metric("zonerelay_pushes_unanswered_total", label: "transport=\"apns\""))
  }

  /// The items of `zonerelay feedback --json`.
  func feedback() async throws -> [JSON] {
    let ended = try await Program.run(
      ["feedback", "--json", "--limit", "1000", "--control", workplace.controlSocket],
      in: workplace)
    return ended.output.split(separator: "\n").map { JSON(data: Data($0.utf8)) }
  }

  func status() async throws -> JSON {
    let ended = try await Program.run(
      ["status", "--json", "--control", workplace.controlSocket], in: workplace)
    return JSON(data: Data(ended.output.utf8))
  }
}

/// Polls for a condition that another process brings about, up to a deadline.
enum Pause {
  static func short() async {
    // A cancelled sleep may end early.
    try? await ContinuousClock().sleep(for: .milliseconds(20))
  }

  /// - Returns: false if the condition did not become true in time.
  @discardableResult
  static func until(
    seconds: Int = 20, _ isTrue: () async throws -> Bool
  ) async rethrows -> Bool {
    let end = ContinuousClock.now + .seconds(seconds)
    while ContinuousClock.now < end {
      if try await isTrue() { return true }
      await short()
    }
    return try await isTrue()
  }
}
