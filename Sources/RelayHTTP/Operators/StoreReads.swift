package import Logging
import RelayCore
package import RelayEngine
import Synchronization

/// How reading the store goes. Devices are told of a read that failed one by one; people are told
/// here: in the log, by a count, and as a reason of `status` until reads work again.
package final class StoreReads: Sendable {
  /// Failures of one sort.
  private struct Trouble {
    var message: String
    var at: Instant
  }

  private struct State {
    var failed: Int64 = 0
    /// What the next read may not meet, such as an error of the disk.
    var passing: Trouble?
    /// What stays in the file: pages beside it may be well, so a read that succeeds ends nothing.
    var damage: Trouble?
    /// When each code was last logged, and failures since that were not.
    var logged: [StoreError.Code: (at: Instant, unsaid: Int)] = [:]
  }

  /// So long after the last failure it is a reason no more: it may have been mended, or nothing
  /// asks for that part of the file.
  static let told = Span.seconds(600)
  /// Between two lines of one code in the log.
  static let quiet = Span.seconds(60)

  private let clock: any ClockReader
  private let logger: Logger
  private let state = Mutex(State())
  /// Looked at by each read that succeeds, so without the lock.
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
      let trouble = Trouble(message: error.message, at: now)
      if error.code == .corrupt || error.code == .newer {
        state.damage = trouble
      } else {
        state.passing = trouble
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

  /// Since start.
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
