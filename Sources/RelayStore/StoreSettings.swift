package import RelayCore

/// What a SQLite store needs to know. Each number has a reason to be changed only in tests or by a
/// measurement.
package struct StoreSettings: Hashable, Sendable {
  /// Must exist and be writable; holds `journal.db`, `relay.db` and `lock`.
  package var directory: String
  package var limits = Limits()
  /// Connections that read at once.
  package var readersMax = 8
  /// Files larger than this are not read through at each start (`quick_check` reads every page).
  package var checkedBytesMax: Int64 = 1 << 30
  /// Pages in a write-ahead log before SQLite brings them into the file; 0: only at the end.
  package var checkpointPages = 1_000
  /// A write-ahead log larger than this is cut off as soon as no reader needs it.
  package var logBytesMax: Int64 = 64 << 20
  /// How long the writer of `relay.db` waits at most for readers of such a log to end: those that
  /// come one after another would let it grow for ever.
  package var logCutWait = Span(milliseconds: 20)
  /// From one such wait that failed to the next: a reader that stays costs folds next to nothing.
  package var logCutPause = Span.seconds(1)
  /// What the writer of `relay.db` keeps in memory, in KiB.
  package var cacheKiB = 32_768
  /// How long a write waits for a lock that somebody else's tool holds on a file.
  package var lockTimeout = Span.seconds(5)
  /// Journal rows deleted by one append at most: it always catches up, and never stalls one.
  package var journalRowsDeletedMax = 64

  package init(directory: String) { self.directory = directory }
}
