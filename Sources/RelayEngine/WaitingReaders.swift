package import RelayCore
import Synchronization

/// A `ReadBarrier` for readers on many threads (P4). Readers call the barrier directly and do not
/// enter the loop.
package final class WaitingReaders: Sendable {
  private typealias Reader = CheckedContinuation<ReadOutcome, Never>

  private let barrier: Mutex<ReadBarrier<Reader>>

  package init(readersMax: Int, waitMax: Span) {
    barrier = Mutex(ReadBarrier(readersMax: readersMax, waitMax: waitMax))
  }

  /// The loop calls this when it has marked every place that recovery found unfolded. Until then,
  /// every read is refused.
  package func begin() { barrier.withLock { $0.begin() } }

  /// Waits for the fold of all changes that the loop had marked in these places before the call.
  /// Returns then, or when the wait ends earlier for another reason (`ReadOutcome`).
  ///
  /// - Parameters:
  ///   - until: the deadline on the boot clock.
  ///   - now: the time on the boot clock.
  ///   - onWait: called once if the caller has to wait, after the caller was counted as a waiting
  ///     reader.
  package func wait(
    for places: [ReadTarget], until: Instant, at now: Instant, onWait: () -> Void
  ) async -> ReadOutcome {
    await withCheckedContinuation { (reader: Reader) in
      // One lock for counting and adding, so that simultaneous readers do not exceed the bound.
      let outcome = barrier.withLock { $0.read(places, until: until, at: now, reader) }
      if let outcome { reader.resume(returning: outcome) } else { onWait() }
    }
  }

  package func dirtied(_ place: ReadTarget) { barrier.withLock { $0.dirtied(place) } }

  /// Notes that a cut was taken, for all partitions but `others`; see `ReadBarrier.cut`.
  package func cut(without others: Set<PartitionID> = []) {
    barrier.withLock { $0.cut(without: others) }
  }

  package func folded() { end(.visible) { $0.folded() } }

  /// The fold was refused and is tried again, see `ReadBarrier.refused`.
  package func refused(_ cause: Unavailable) { end(.refused(cause)) { $0.refused(cause) } }

  /// Ends the waiting of readers whose deadline has come.
  package func expire(at now: Instant) { end(.late) { $0.expire(at: now) } }

  /// Ends the waiting of all readers, because the daemon ends.
  package func close() { end(.closed) { $0.close() } }

  package var hasReaders: Bool { readers > 0 }

  /// How many readers wait.
  var readers: Int { barrier.withLock { $0.readers } }

  private func end(
    _ outcome: ReadOutcome, _ choose: (inout sending ReadBarrier<Reader>) -> [Reader]
  ) {
    for reader in barrier.withLock({ choose(&$0) }) { reader.resume(returning: outcome) }
  }
}
