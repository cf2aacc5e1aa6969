package import RelayCore

/// Settings of a SQLite store. Change a number only in tests or because of a measurement.
package struct StoreSettings: Hashable, Sendable {
  /// Must exist and be writable; holds `journal.db`, `relay.db` and `lock`.
  package var directory: String
  package var limits = Limits()
  /// Connections that may read at the same time.
  package var readersMax = 8
  /// A larger file is not read through at each start (`quick_check` reads every page).
  package var checkedBytesMax: Int64 = 1 << 30
  /// Pages in a write-ahead log before SQLite copies them into the file; 0: only at the end.
  package var checkpointPages = 1_000
  /// A longer write-ahead log is cut off as soon as no reader needs it.
  package var logBytesMax: Int64 = 64 << 20
  /// How long the writer of `relay.db` waits at most for readers before it cuts such a log. Without
  /// a wait, readers that follow one another would let the log grow without bound.
  package var logCutWait = Span(milliseconds: 20)
  /// The pause after a `logCutWait` that failed, so that a reader that stays long hardly slows
  /// folds.
  package var logCutPause = Span.seconds(1)
  /// The page cache of the writer of `relay.db`, in KiB.
  package var cacheKiB = 32_768
  /// How long a write waits for a lock that another program holds on a file.
  package var lockTimeout = Span.seconds(5)
  /// Journal rows that one append deletes at most: enough to catch up, few enough not to delay it.
  package var journalRowsDeletedMax = 64

  package init(directory: String) { self.directory = directory }
}
