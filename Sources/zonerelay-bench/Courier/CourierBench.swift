import ArgumentParser
import Foundation
import NIOCore
import NIOPosix
import RelayWire

/// Measures idle courier polls or streams: what each costs, and how soon one change reaches all
/// devices.
struct CourierBench {
  let bench: Workbench
  let count: Int
  let areStreams: Bool
  /// Seconds before each change. After 55 s the daemon answers a poll empty, and the device polls
  /// again.
  let idle: Int
  /// The number of the kernel's open-file tables over which the bench spreads its polls. The daemon
  /// must spread its connections over as many.
  let tables: Int

  private var kind: String { areStreams ? "streams" : "polls" }

  /// How many places of each open-file table the bench leaves free of polls: for other open files,
  /// and because some tables get a few more polls than others.
  private static let spare = 500

  /// One change that reached all devices.
  private struct Round {
    var reached: Crowd.Reached
    var cpu: CPUTime
  }

  func run() async throws -> [Figure] {
    let files = try OpenFiles.raise()
    let room = (files - Self.spare) * tables
    guard room >= count else {
      throw BenchError(
        "\(count) polls need as many open files here and in the daemon, and \(files) are allowed; "
          + "raise the limit with ulimit -n, or say --polls \(room)")
    }
    let daemon = try await MeasuredDaemon.start(bench)
    let scene = CourierScene(daemon: daemon, devices: count)
    let home = bench.group.next()
    let loops = tables > 1 ? try await FileTables.loops(tables, home: home) : [home]
    let crowd = Crowd(
      try await scene.prepare(), areStreams: areStreams, port: daemon.port, loops: loops,
      home: home)
    Talk.line("courier: \(count) devices are registered")
    let before = (memory: try Memory.resident(of: daemon.child), cpu: try daemon.child.cpu())
    let opened = ContinuousClock.now
    try await crowd.open()
    try await wait(until: daemon)
    let opening = (ContinuousClock.now - opened).inSeconds
    let after = (memory: try Memory.resident(of: daemon.child), cpu: try daemon.child.cpu())
    let memory = (after.memory - before.memory) * 1_024 / Double(count)
    Talk.line("courier: \(count) \(kind) are held, \(String(format: "%.2f", memory)) KiB each")
    var rounds: [Round] = []
    for number in 1...bench.options.pairCount {
      if number > 1 {
        try await crowd.again()
        try await wait(until: daemon)
      }
      rounds.append(try await round(number, daemon, scene, crowd))
    }
    let most = try Memory.most(of: daemon.child)
    try await check(rounds, daemon)
    try await crowd.release()
    try await daemon.stop()
    try await crowd.close()
    return figures(rounds) + [
      Figure("courier", "opened in", unit: "s", ours: [opening]),
      Figure(
        "courier", "daemon CPU to open one", unit: "µs",
        ours: [(after.cpu - before.cpu).each(of: count)]),
      Figure(
        "courier", "memory each while held", unit: "KiB",
        ours: [memory], floor: 10, aim: 10),
      Figure("courier", "resident memory at most", unit: "MiB", ours: [most]),
    ]
  }

  private func round(
    _ number: Int, _ daemon: MeasuredDaemon, _ scene: CourierScene, _ crowd: Crowd
  ) async throws -> Round {
    try await ContinuousClock().sleep(for: .seconds(idle))
    let before = try daemon.child.cpu()
    try await crowd.begin()
    try await scene.change(number)
    let reached = try await crowd.reached(within: .seconds(120))
    let cpu = try daemon.child.cpu() - before
    Talk.line(String(format: "courier: change %d reached all in %.2f s", number, reached.after(1)))
    return Round(reached: reached, cpu: cpu)
  }

  private func check(_ rounds: [Round], _ daemon: MeasuredDaemon) async throws {
    let doubled = rounds.reduce(0) { $0 + $1.reached.doubled }
    guard doubled == 0 else { throw BenchError("\(doubled) polls brought a wake twice") }
    guard try await daemon.status().ledger.balanced else {
      throw BenchError("the ledger does not balance")
    }
  }

  private func figures(_ rounds: [Round]) -> [Figure] {
    func share(_ share: Double) -> [Double] { rounds.map { $0.reached.after(share) } }
    return [
      Figure("courier", "\(kind) held", unit: "", ours: [Double(count)]),
      Figure("courier", "change to half of them", unit: "s", ours: share(0.5)),
      Figure("courier", "change to 99 %", unit: "s", ours: share(0.99)),
      Figure("courier", "change to all", unit: "s", ours: share(1), floor: 5, aim: 2),
      Figure(
        "courier", "daemon CPU each reached", unit: "µs",
        ours: rounds.map { $0.cpu.each(of: count) }),
      Figure("courier", "lost or doubled", unit: "", ours: [0], floor: 0, aim: 0),
    ]
  }

  /// The share of the polls that must be open before a change. The other devices have just got an
  /// empty answer; these devices poll again soon, and then get the wake.
  private static let heldShare = 0.98

  private func wait(until daemon: MeasuredDaemon) async throws {
    let deadline = ContinuousClock.now + .seconds(60 + count / 200)
    while .now < deadline {
      let held = try await daemon.metric("zonerelay_courier_connections") ?? 0
      if held >= Double(count) * Self.heldShare { return }
      try await ContinuousClock().sleep(for: .milliseconds(50))
    }
    throw BenchError("the daemon does not hold \(count) polls: \(daemon.child.said.suffix(2_000))")
  }
}

struct CourierCommand: BenchCommand {
  static let configuration = CommandConfiguration(
    commandName: "courier",
    abstract: "Courier polls held idle, their memory, and changes that reach them all.",
    discussion: """
      Each poll is a connection, and so an open file here and one in the daemon: 50,000 need a \
      hard limit above them (ulimit -Hn). Where it is lower, say --polls, or run make couriers \
      (docs/performance.md).
      """)
  @OptionGroup var options: BenchOptions
  @Option(help: "How many polls (default 50000; a tenth with --quick).")
  var polls: Int?
  @Flag(help: "Event streams instead of polls.")
  var streams = false
  @Option(help: "Seconds that they are held before each change.")
  var idle = 0
  @Option(
    help: """
      Tables of open files over which they are spread; --daemon must do the same (.ci/couriers).
      """)
  var tables = 1

  func validate() throws {
    if let polls, !(1...100_000).contains(polls) {
      throw ValidationError("--polls must be between 1 and 100000")
    }
    guard (0...600).contains(idle) else {
      throw ValidationError("--idle must be between 0 and 600")
    }
    guard (1...16).contains(tables) else {
      throw ValidationError("--tables must be between 1 and 16")
    }
  }

  func measure(_ bench: Workbench) async throws -> [Figure] {
    try await CourierBench(
      bench: bench, count: polls ?? options.amount(50_000), areStreams: streams, idle: idle,
      tables: tables
    ).run()
  }
}
