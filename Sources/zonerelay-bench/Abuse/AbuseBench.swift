import Foundation
import NIOCore
import RelayWire

/// 50 well-behaved users beside hostile callers, phase by phase on one daemon, and a kill in the
/// middle of the abuse.
struct AbuseBench {
  private let bench: Workbench
  private let seconds: Int
  private static let keys = ["mallory": HostileCaller.producerKey]

  init(_ bench: Workbench, seconds: Int) {
    self.bench = bench
    self.seconds = seconds
  }

  /// What well-behaved users may feel at most, and what the daemon may take.
  private enum Bound {
    static let slowdown = 10.0
    static let milliseconds = 500.0
    static let mebibytes = 1_024.0
    static let restart = 2.0
    static let spareFiles = 16
  }

  func run() async throws -> [Figure] {
    let standin = try await Standin.start(bench)
    let store = try bench.emptyDirectory("abuse")
    let daemon = try await start(store, standin)
    try await AbuseScene(bench, daemon: daemon).prepare()
    let quiet = try await phase("quiet", [], daemon, seconds: min(seconds, 60))
    let crowds: [(name: String, callers: [HostileCaller])] = [
      ("a stranger", HostileCaller.strangers), ("a hostile user", HostileCaller.users),
      ("a hostile producer", HostileCaller.producers),
      ("all together", HostileCaller.strangers + HostileCaller.users + HostileCaller.producers),
    ]
    var phases = [quiet]
    for crowd in crowds {
      phases.append(try await phase(crowd.name, crowd.callers, daemon, seconds: seconds))
    }
    try await daemon.stop()
    let restarts = try await restarts(standin, store, crowds[3].callers)
    _ = try await standin.child.stop()
    let broken = phases.flatMap { bounds(brokenBy: $0, beside: quiet) } + bounds(brokenBy: restarts)
    for line in broken { Talk.line("broken: \(line)") }
    guard broken.isEmpty else { throw Trouble("\(broken.count) bounds are broken, listed above") }
    return phases.flatMap(\.figures) + restarts.figures
  }

  private func start(_ store: URL, _ standin: Standin) async throws -> Daemon {
    try await Daemon.start(
      bench, apns: standin.route, others: Self.keys, store: store, patience: .seconds(120))
  }

  private func phase(
    _ name: String, _ hostile: [HostileCaller], _ daemon: Daemon, seconds: Int
  ) async throws -> AbusePhase {
    let crowd = HostileCrowd()
    let watch = ProcessWatch(daemon.child)
    let files = try OpenFiles.count(of: daemon.child)
    crowd.start(hostile, port: daemon.port)
    let length = TimeAmount.seconds(Int64(seconds))
    let users = (0..<GoodUser.count).map { GoodUser($0, run: name, length: length) }
    let exchange = try await Exchange(users, to: .port(daemon.port), group: bench.group)
    try await exchange.run(within: length + .seconds(120))
    await crowd.end()
    var phase = AbusePhase(name: name, users: users, answers: crowd.answers)
    phase.memory = await watch.end()
    phase.settled = try await settle(daemon)
    phase.bytes = (try await daemon.status()).store.bytes
    phase.filesLeft = try OpenFiles.count(of: daemon.child) - files
    Talk.line(phase.summary)
    return phase
  }

  /// What was accepted is folded, and nothing grows any more.
  ///
  /// - Returns: seconds that took; nil if it was not within two minutes.
  private func settle(_ daemon: Daemon) async throws -> Double? {
    let begin = ContinuousClock.now
    var last = -1
    while .now < begin + .seconds(120) {
      let status = try await daemon.status()
      let bytes = Int(status.store.bytes)
      if status.store.journalTail == 0, status.fanouts.running == 0, bytes == last {
        guard status.ledger.balanced else { throw Trouble("the ledger does not balance") }
        return (ContinuousClock.now - begin).inSeconds
      }
      last = bytes
      try await ContinuousClock().sleep(for: .seconds(1))
    }
    return nil
  }

  /// Kills, with and without abuse, and how soon the next daemon is ready.
  private func restarts(
    _ standin: Standin, _ store: URL, _ hostile: [HostileCaller]
  ) async throws -> AbuseRestarts {
    var restarts = AbuseRestarts()
    for isQuiet in [true, true, true, false] {
      let daemon = try await start(store, standin)
      let crowd = HostileCrowd()
      if !isQuiet {
        crowd.start(hostile, port: daemon.port)
        try await ContinuousClock().sleep(for: .seconds(min(seconds, 20)))
      }
      try await daemon.child.kill()
      await crowd.end()
      let begin = ContinuousClock.now
      let next = try await start(store, standin)
      let took = (ContinuousClock.now - begin).inSeconds
      if isQuiet { restarts.quiet.append(took) } else { restarts.abused = took }
      try await next.stop()
    }
    Talk.line(restarts.summary)
    return restarts
  }

  private func bounds(brokenBy phase: AbusePhase, beside quiet: AbusePhase) -> [String] {
    var broken = phase.refusals.prefix(5).map { "\(phase.name): a good user got \($0)" }
    broken += phase.answers.forbidden.map { "\(phase.name): \($0)" }
    let (p99, calm) = (phase.latencies.percentile(0.99), quiet.latencies.percentile(0.99))
    if p99 > Bound.slowdown * calm {
      broken.append("\(phase.name): p99 of good users \(p99) ms, quiet \(calm) ms")
    }
    let most = phase.latencies.percentile(1)
    if most > Bound.milliseconds { broken.append("\(phase.name): a good user waited \(most) ms") }
    if phase.memory > Bound.mebibytes { broken.append("\(phase.name): \(phase.memory) MiB") }
    if phase.settled == nil { broken.append("\(phase.name): the store still grows after 2 min") }
    if phase.filesLeft > Bound.spareFiles {
      broken.append("\(phase.name): \(phase.filesLeft) files more are open than before")
    }
    return broken
  }

  private func bounds(brokenBy restarts: AbuseRestarts) -> [String] {
    restarts.abused > Bound.restart * restarts.calm
      ? ["killed under abuse: ready after \(restarts.abused) s, quiet \(restarts.calm) s"] : []
  }
}
