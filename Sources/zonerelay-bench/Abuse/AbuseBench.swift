import Crypto
import Foundation
import NIOCore
import RelayWire

/// Measures how the daemon serves 50 well-behaved users beside hostile callers, phase by phase on
/// one daemon, and kills the daemon during the abuse.
struct AbuseBench {
  let bench: Workbench
  let seconds: Int
  let bounds: AbuseBounds
  /// If set, the bench kills no daemon. After the quiet phase it runs only the phases and single
  /// kinds of abuse whose name contains this text.
  let only: String?

  func run() async throws -> [Figure] {
    _ = try OpenFiles.raise()
    let standin = try await Standin.start(bench)
    let store = try bench.emptyDirectory("abuse")
    let daemon = try await start(store, standin)
    try await AbuseScene(bench: bench, daemon: daemon).prepare()
    guard try await settle(daemon) != nil else { throw BenchError("the scene does not settle") }
    let quiet = try await phase("quiet", [], daemon, seconds: min(seconds, 60))
    let all = HostileCaller.strangers + HostileCaller.users + HostileCaller.producers
    var crowds = [
      ("a stranger", HostileCaller.strangers), ("a hostile user", HostileCaller.users),
      ("a hostile producer", HostileCaller.producers), ("all together", all),
    ]
    if let only {
      crowds += all.map { ($0.name, [$0]) }
      crowds.removeAll { !$0.0.contains(only) }
    }
    var phases = [quiet]
    for crowd in crowds {
      phases.append(try await phase(crowd.0, crowd.1, daemon, seconds: seconds))
    }
    try await daemon.stop()
    let restarts = only == nil ? try await restarts(standin, store, all) : nil
    _ = try await standin.child.stop()
    let broken =
      phases.flatMap { bounds.broken(by: $0, beside: quiet) }
      + (restarts.map { bounds.broken(by: $0) } ?? [])
    for line in broken { Talk.line("broken: \(line)") }
    guard broken.isEmpty else {
      throw BenchError("\(broken.count) bounds are broken, listed above")
    }
    return phases.flatMap(\.figures) + (restarts?.figures ?? [])
  }

  private func start(_ store: URL, _ standin: Standin) async throws -> MeasuredDaemon {
    let signer = HostileCaller.signer
    return try await MeasuredDaemon.start(
      bench, apns: standin.route, others: ["mallory": HostileCaller.producerKey],
      signer: (signer.keyID, signer.key.publicKey.pemRepresentation), store: store,
      patience: .seconds(120))
  }

  private func phase(
    _ name: String, _ hostile: [HostileCaller], _ daemon: MeasuredDaemon, seconds: Int
  ) async throws -> AbusePhase {
    let crowd = HostileCrowd()
    let watch = ProcessWatch(daemon.child)
    let files = try OpenFiles.count(of: daemon.child)
    crowd.start(hostile, port: daemon.port)
    var phase = AbusePhase(name: name, answers: crowd.answers)
    await goodUsers(of: &phase, daemon, seconds: seconds)
    await crowd.end()
    phase.silent = crowd.answers.silent(of: hostile)
    phase.memory = await watch.end()
    phase.settled = try await settle(daemon)
    phase.bytes = (try await daemon.status()).store.bytes
    phase.filesLeft = try await filesLeft(daemon, beyond: files)
    Talk.line(phase.summary)
    return phase
  }

  /// How many more files the daemon has open than before the phase, counted after at most 30 s. A
  /// request that waits keeps its connection open, even if the client has left. The files must be
  /// closed sooner than the daemon closes idle connections, which takes 75 s.
  private func filesLeft(_ daemon: MeasuredDaemon, beyond before: Int) async throws -> Int {
    let deadline = ContinuousClock.now + .seconds(30)
    while true {
      let left = try OpenFiles.count(of: daemon.child) - before
      if left <= AbuseBounds.spareFiles || .now > deadline { return left }
      try await ContinuousClock().sleep(for: .seconds(1))
    }
  }

  /// Runs the well-behaved users of one phase and records their latencies and refusals.
  private func goodUsers(of phase: inout AbusePhase, _ daemon: MeasuredDaemon, seconds: Int) async {
    let length = TimeAmount.seconds(Int64(seconds))
    let run = phase.name
    let users = GoodUser.all(run: run, for: length)
    async let connecting = ConnectingUser.run(daemon, for: .seconds(seconds))
    do {
      try await daemon.serve(users, within: length + .seconds(120))
    } catch {
      phase.refusals.append("\(error)")
    }
    phase.add(users, await connecting)
  }

  /// How long `settle` waits at most. One request may bring a thousand changes, each of which
  /// notifies ten thousand users, so the wait can take minutes.
  private static let patience = Duration.seconds(900)

  /// Waits until all accepted changes are folded, no fan-out is left, and the store stops
  /// growing.
  ///
  /// - Returns: the seconds of the wait; nil if the wait would take longer than `patience`.
  private func settle(_ daemon: MeasuredDaemon) async throws -> Double? {
    let begin = ContinuousClock.now
    var last = -1
    while .now < begin + Self.patience {
      let status = try await daemon.status()
      let bytes = Int(status.store.bytes)
      if status.store.journalTail == 0, status.fanouts.running == 0, bytes == last {
        guard status.ledger.balanced else { throw BenchError("the ledger does not balance") }
        return (ContinuousClock.now - begin).inSeconds
      }
      last = bytes
      try await ContinuousClock().sleep(for: .seconds(1))
    }
    return nil
  }

  /// Kills the daemon, with and without abuse beside the well-behaved users, and measures how soon
  /// the next daemon is ready.
  private func restarts(
    _ standin: Standin, _ store: URL, _ hostile: [HostileCaller]
  ) async throws -> AbuseRestarts {
    var restarts = AbuseRestarts()
    for isQuiet in [true, true, true, false] {
      let daemon = try await start(store, standin)
      let crowd = HostileCrowd()
      if !isQuiet { crowd.start(hostile, port: daemon.port) }
      let length = isQuiet ? min(seconds, 5) : min(seconds, 20)
      async let used: Void = use(daemon, run: "kill-\(restarts.quiet.count)", seconds: length + 30)
      try await ContinuousClock().sleep(for: .seconds(length))
      try await daemon.child.kill()
      await used
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

  /// Runs well-behaved users until the daemon is killed. The bench does not record their answers.
  private func use(_ daemon: MeasuredDaemon, run: String, seconds: Int) async {
    let length = TimeAmount.seconds(Int64(seconds))
    let users = GoodUser.all(run: run, for: length)
    // An error is expected here: the kill ends all connections.
    try? await daemon.serve(users, within: length)
  }
}
