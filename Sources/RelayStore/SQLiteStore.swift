import Foundation
import GRDB
package import RelayCore
package import RelayEngine
import Synchronization

/// The embedded store: two SQLite files in one directory, for one daemon.
///
/// `journal.db` takes the group commits and `relay.db` the folds, so that folding never delays
/// accepting. What a call wrote to either file is durable when the call returns
/// (`synchronous=FULL`, read back at the start). Reads run on threads of `RelayFile`, one for each
/// reader. `append`, `fold` and `trim` block the calling thread: call them on threads that do
/// nothing else.
package final class SQLiteStore: Store {
  package let settings: StoreSettings
  let relay: RelayFile
  let journal: JournalFile
  let eras = KnownEras()
  private let lock: StoreLock
  let control: Mutex<Control>
  /// True if no daemon has ever served from this store, even if an earlier start has made its
  /// files.
  package let isNew: Bool

  /// What this process remembers of the store. The lock makes this process the only writer.
  struct Control {
    var epochs: [UInt64]
    /// The error of a commit whose outcome is unknown; nothing is written after that commit.
    var failure: StoreError?
    var isClosed = false
    /// Keys of feeds near their limit.
    var nearlyFull: Set<Data> = []
  }

  /// Opens the store in `settings.directory`, making its files if there are none.
  ///
  /// Blocks while it checks the files; called once, before the daemon serves requests.
  /// - Throws: `.inUse`, `.corrupt`, `.mixed`, `.newer`, `.full`, `.unwritable` for a read-only
  ///   file system, or `.unreadable` for a directory that is missing or not writable. No stored
  ///   data was changed then.
  package init(_ settings: StoreSettings) throws(StoreError) {
    self.settings = settings
    try Self.checkDirectory(settings.directory)
    lock = try StoreLock(directory: settings.directory)
    let journalFile = StoreFile.journal(in: settings.directory)
    let relayFile = StoreFile.relay(in: settings.directory)
    try journalFile.check(settings)
    try relayFile.check(settings)
    let pair = try StorePair.read(in: settings.directory, leavesNothing: false)
    if let refusal = pair.refusal(in: settings.directory) { throw refusal }
    journal = try JournalFile(journalFile, settings)
    relay = try RelayFile(relayFile, settings, store: journal.store)
    let (places, nearlyFull) = try relay.inspect { database in
      (try PartitionPlaces(database), try Self.nearlyFull(database, settings.limits))
    }
    journal.folded(to: places.cursors)
    isNew = places.eras.allSatisfy(\.all.isEmpty)
    control = Mutex(Control(epochs: places.epochs, nearlyFull: nearlyFull))
  }

  package func health() async throws(StoreError) -> StoreUsage {
    let names = ["relay.db", "relay.db-wal", "journal.db", "journal.db-wal"]
    let bytes = names.reduce(Int64(0)) { $0 + StoreFile.size(settings.directory + "/" + $1) }
    return StoreUsage(engine: "sqlite", bytes: bytes)
  }

  package func close() async {
    let isFirst = control.withLock { control in
      defer { control.isClosed = true }
      return !control.isClosed
    }
    guard isFirst else { return }
    await journal.close()
    await relay.close()
    lock.release()
  }

  /// Why `partitions` may not be written under `leases`; nil if they may be written.
  func refusal(to partitions: Set<PartitionID>, _ leases: [Lease]) -> StoreError? {
    let current = Dictionary(
      leases.map { ($0.partition, $0.epoch) }, uniquingKeysWith: { first, _ in first })
    return control.withLock { control in
      if let failure = control.failure { return failure }
      if control.isClosed { return .closed(file: settings.directory) }
      let stale = partitions.filter { current[$0] != control.epochs[Int($0.number)] }.min()
      guard let stale else { return nil }
      return StoreError(
        .stale, "partition \(stale.number) was taken up again; this lease of it is over")
    }
  }

  /// Notes the journal's last row in `relay.db`, where `StorePair` reads the note.
  static func note(journalled: Int64, in database: GRDB.Database) throws {
    try database.run("UPDATE meta SET journalled = max(journalled, ?)", [journalled])
  }

  /// Returns `result`, and remembers a commit whose outcome is unknown: nothing may be written
  /// after such a commit.
  func settle<Value>(_ result: Result<Value, StoreError>) -> Result<Value, StoreError> {
    if case .failure(let error) = result, error.code == .unknown {
      control.withLock { $0.failure = $0.failure ?? error }
    }
    return result
  }
}
