package import Logging
import RelayCore
package import RelayEngine
import Synchronization

/// Records reads of the store that failed. Each device gets its own error. Operators see failures
/// in the log, as a count, and as a reason in `status` until reads work again.
package final class StoreReads: Sendable {
  /// The last failure of one kind.
  private struct FailedRead {
    var message: String
    var at: Instant
  }

  private struct State {
    var failed: Int64 = 0
    /// A failure that the next read may not have, such as an error of the disk.
    var passing: FailedRead?
    /// Damage that stays in the file. Other pages may be intact, so a read that succeeds does not
    /// end it.
    var damage: FailedRead?
    /// When each code was last logged, and how many failures since then were not logged.
    var logged: [StoreError.Code: (at: Instant, unsaid: Int)] = [:]
  }

  /// This long after the last failure, `status` no longer names it as a reason: the file may have
  /// been repaired, or no request reads that part of it.
  static let told = Span.seconds(600)
  /// The shortest time between two lines of one code in the log.
  static let quiet = Span.seconds(60)

  private let clock: any ClockReader
  private let logger: Logger
  private let state = Mutex(State())
  /// Every read that succeeds checks this, so it is outside the lock.
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
      let failed = FailedRead(message: error.message, at: now)
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

  /// Failed reads since start.
  var failures: Int64 { state.withLock { $0.failed } }

  /// Sentences for `status`.
  var reasons: [String] {
    let now = clock.boot()
    return state.withLock { state in
      [state.damage, state.passing].compactMap(\.self).filter { now < $0.at + Self.told }
        .map { "reads of the store fail: \($0.message)" }
    }
  }
}
