/// The worst service that well-behaved users may get, and the most that the daemon may use.
struct AbuseBounds {
  /// The highest ratio of a phase's p99 to the p99 of the quiet phase. A p99 up to
  /// `calmMilliseconds` always passes.
  var slowdown = 10.0
  var calmMilliseconds = 0.0
  var milliseconds = 500.0
  var mebibytes = 1_024.0
  /// The highest ratio of the time to restart after a kill under abuse to the time after a kill
  /// without abuse.
  var restart = 2.0
  var calmRestartSeconds = 0.0
  static let spareFiles = 16

  /// Bounds for a debug build on a machine that runs other programs too. Only the bounds on times
  /// are wider than the default ones. Beside a hostile producer, the p99 of a debug build's answers
  /// is 2.6 s on two idle cores, and 9.7 s beside a compiler.
  static var wide: AbuseBounds {
    var bounds = AbuseBounds()
    bounds.calmMilliseconds = 10_000
    bounds.milliseconds = 15_000
    bounds.calmRestartSeconds = 15
    return bounds
  }

  func broken(by phase: AbusePhase, beside quiet: AbusePhase) -> [String] {
    var broken = phase.refusals.prefix(5).map { "\(phase.name): a good user got \($0)" }
    broken += phase.answers.forbidden.map { "\(phase.name): \($0)" }
    broken += phase.silent.map { "\(phase.name): \($0) sent nothing: nothing is shown" }
    let (p99, calm) = (phase.latencies.percentile(0.99), quiet.latencies.percentile(0.99))
    if p99 > max(slowdown * calm, calmMilliseconds) {
      broken.append("\(phase.name): p99 of good users \(p99) ms, quiet \(calm) ms")
    }
    let most = phase.latencies.percentile(1)
    if most > milliseconds { broken.append("\(phase.name): a good user waited \(most) ms") }
    if phase.memory > mebibytes { broken.append("\(phase.name): \(phase.memory) MiB") }
    if phase.settled == nil { broken.append("\(phase.name): the store still grows after 15 min") }
    if phase.filesLeft > Self.spareFiles {
      broken.append("\(phase.name): \(phase.filesLeft) files more are open than before")
    }
    return broken
  }

  func broken(by restarts: AbuseRestarts) -> [String] {
    restarts.abused > max(restart * restarts.calm, calmRestartSeconds)
      ? ["killed under abuse: ready after \(restarts.abused) s, quiet \(restarts.calm) s"] : []
  }
}
