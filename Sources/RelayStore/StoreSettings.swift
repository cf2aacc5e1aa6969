import Dispatch
import GRDB
package import RelayCore

/// Settings of a SQLite store. Change a number only in tests or because of a measurement.
package struct StoreSettings: Hashable, Sendable {
  /// The store's directory. It must exist and be writable, and holds `journal.db`, `relay.db` and
  /// `lock`.
  package var directory: String
  package var limits = Limits()
  /// The most connections that may read at the same time.
  package var readersMax = 8
  /// A file with more bytes is not checked at each start, because `quick_check` reads every page.
  package var checkedBytesMax: Int64 = 1 << 30
  /// When a write-ahead log has this many pages, SQLite copies them into the file; 0 means that
  /// SQLite does not do this by itself.
  package var checkpointPages = 1_000
  /// The writer truncates a write-ahead log that is longer than this as soon as no reader needs the
  /// log.
  package var logBytesMax: Int64 = 64 << 20
  /// The longest time for which the writer of `relay.db` waits for readers before it truncates a
  /// log longer than `logBytesMax`. Without a wait, readers that follow one another would let the
  /// log grow without bound.
  package var logTruncationWait = Span(milliseconds: 20)
  /// The pause after a `logTruncationWait` that failed, so that a reader that stays long hardly
  /// slows folds.
  package var logTruncationPause = Span.seconds(1)
  /// The page cache of the writer of `relay.db`, in KiB.
  package var cacheKiB = 32_768
  /// How long a write waits for a lock that another program holds on a file.
  package var lockTimeout = Span.seconds(5)
  /// The most journal rows that one append deletes. The number is above one, so that deletions
  /// catch up with appends, which add one row each, and is low enough not to delay the append.
  package var journalRowsDeletedMax = 64

  package init(directory: String) { self.directory = directory }
}

extension StoreSettings {
  /// How a file's connections are opened.
  func connections(_ name: String) -> Configuration {
    var configuration = Configuration()
    configuration.label = "zonerelay.\(name)"
    // By default GRDB's threads ask for a priority that only root has, and log that it was refused.
    configuration.qos = .default
    configuration.busyMode = .timeout(Double(lockTimeout.milliseconds) / 1_000)
    return configuration
  }
}
