package import Logging
import RelayCore
package import RelayEngine
import Synchronization

/// Records the reads of the store that failed. Operators see these failures in the log, as a count,
/// and for some time as a reason in `status`.
package final class StoreReads: Sendable {
  /// The message and the time of a failed read.
  private typealias FailedRead = (message: String, at: Instant)

  private struct State {
    var failed: Int64 = 0
    /// The last failure that may pass, such as an error of the disk. A read that succeeds removes
    /// this failure.
    var passing: FailedRead?
    /// The last failure because the file is damaged, or was written by a newer version of the
    /// relay. A read that succeeds does not remove this failure, because other parts of the file
    /// may be intact.
    var damage: FailedRead?
    /// For each code: when a failure was last logged, and how many failures since were not logged.
    var logged: [StoreError.Code: (at: Instant, unsaid: Int)] = [:]
  }

  /// How long `status` names a failure as a reason. After this time the file may have been
  /// repaired, or no request reads its damaged part.
  static let told = Span.seconds(600)
  /// The shortest time between two log lines for failures of the same code.
  static let quiet = Span.seconds(60)

  private let clock: any ClockReader
  private let logger: Logger
  private let state = Mutex(State())
  /// True if `passing` is set. This flag is outside the lock, because every read that succeeds
  /// checks the flag.
  private let isPassing = Atomic(false)

  package init(clock: any ClockReader, logger: Logger) {
    self.clock = clock
    self.logger = logger
  }

  func worked() {
    guard isPassing.load(ordering: .relaxed) else { return }
    isPassing.store(false, ordering: .relaxed)
    state.withLock { $0.passing = nil }
  }

  func failed(_ error: StoreError) {
    let now = clock.boot()
    let unsaid: Int? = state.withLock { state in
      state.failed += 1
      let failed = (error.message, now)
      if error.code == .corrupt || error.code == .newer {
        state.damage = failed
      } else {
        state.passing = failed
        isPassing.store(true, ordering: .relaxed)
      }
      if let last = state.logged[error.code], now < last.at + Self.quiet {
        state.logged[error.code] = (last.at, last.unsaid + 1)
        return nil
      }
      defer { state.logged[error.code] = (now, 0) }
      return state.logged[error.code]?.unsaid ?? 0
    }
    guard let unsaid else { return }
    logger.error(
      "read failed", metadata: ["error": "\(error)", "more": "\(unsaid) since the last line"])
  }

  /// The number of failed reads since the daemon's start.
  var failures: Int64 { state.withLock { $0.failed } }

  /// The sentences that `status` shows for failed reads.
  var reasons: [String] {
    let now = clock.boot()
    return state.withLock { state in
      [state.damage, state.passing].compactMap(\.self).filter { now < $0.at + Self.told }
        .map { "reads of the store fail: \($0.message)" }
    }
  }
}
