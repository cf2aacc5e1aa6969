import ArgumentParser
import Foundation
import NIOCore
import RelayWire

/// Idle courier polls: what each costs in memory, and how soon one change reaches them all.
struct CourierBench {
  private let bench: Workbench
  private let connections: Int

  init(_ bench: Workbench, connections: Int) {
    self.bench = bench
    self.connections = connections
  }

  /// Files of a process beside its connections.
  private static let spare = 500

  func run() async throws -> [Figure] {
    let files = try OpenFiles.raise()
    guard files >= connections + Self.spare else {
      throw Trouble(
        "\(connections) connections need as many open files, and \(files) are allowed; "
          + "raise the limit with ulimit -n, or say --connections \(files - Self.spare)")
    }
    let daemon = try await Daemon.start(bench)
    let scene = CourierScene(bench, daemon: daemon, devices: connections)
    let paths = try await scene.prepare()
    Talk.line("courier: \(connections) devices are registered")
    let before = try Memory.resident(of: daemon.child)
    let crowd = Crowd(paths, port: daemon.port, group: bench.group)
    let opened = ContinuousClock.now
    try await crowd.open()
    try await wait(until: daemon, holds: connections)
    let opening = (ContinuousClock.now - opened).inSeconds
    let after = try Memory.resident(of: daemon.child)
    Talk.line("courier: \(connections) polls are held")
    try await crowd.begin()
    try await scene.change()
    let reached = try await crowd.reached(within: .seconds(60))
    guard reached.count == connections else {
      throw Trouble("\(reached.count) of \(connections) polls were answered within a minute")
    }
    guard try await daemon.status().ledger.balanced else {
      throw Trouble("the ledger does not balance")
    }
    crowd.close()
    try await daemon.stop()
    let each = (after - before) * 1_024 / Double(connections)
    return [
      Figure("courier", "polls held", unit: "", ours: [Double(connections)]),
      Figure("courier", "opened in", unit: "s", ours: [opening]),
      Figure("courier", "memory a connection", unit: "KiB", ours: [each]),
      Figure("courier", "change to half of them", unit: "s", ours: [reached[reached.count / 2]]),
      Figure(
        "courier", "change to all", unit: "s", ours: [reached[reached.count - 1]], floor: 5,
        aim: 2),
    ]
  }

  private func wait(until daemon: Daemon, holds count: Int) async throws {
    let deadline = ContinuousClock.now + .seconds(40)
    while .now < deadline {
      if try await daemon.metric("zonerelay_courier_connections") == Double(count) { return }
      try await ContinuousClock().sleep(for: .milliseconds(50))
    }
    throw Trouble("the daemon does not hold \(count) polls: \(daemon.child.said.suffix(2_000))")
  }
}

struct CourierCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "courier",
    abstract: "Idle courier polls, their memory, and one change that reaches them all.")
  @OptionGroup var options: Options
  @Option(help: "How many polls (default 50000; a tenth with --quick).")
  var connections: Int?

  func validate() throws {
    if let connections, !(1...50_000).contains(connections) {
      throw ValidationError("--connections must be between 1 and 50000")
    }
  }

  func run() async throws {
    let count = connections ?? options.amount(50_000)
    try await Session.run(options) { try await CourierBench($0, connections: count).run() }
  }
}
