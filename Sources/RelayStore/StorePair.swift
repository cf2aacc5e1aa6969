import Foundation
import GRDB
import RelayCore
import RelayEngine

/// What `relay.db` and `journal.db` record of each other, so that the daemon never uses two files
/// that do not belong together.
///
/// Both files carry the id of their store. A claim or a fold notes in `relay.db` the last row that
/// the journal had, and a deletion of journal rows notes in `journal.db` how far each partition was
/// folded. A note is written only when the other file durably holds the rows that the note is
/// about. So a crash between the two writes never looks like a pair that does not belong together.
struct StorePair {
  struct Relay {
    var store: Data
    /// The number of the journal's last row when a claim or a fold last wrote `relay.db`.
    var journalled: Int64
    /// The cursor of each partition.
    var cursors: [Ordinal]
  }

  struct Journal {
    var store: Data
    /// The number of the journal's last row, deleted or not; 0 before the first row.
    var last: Int64
    /// How far each partition was folded when rows were last deleted.
    var folded: [Ordinal]
  }

  /// What `relay.db` records; nil if the file does not exist or has no tables yet.
  var relay: Relay?
  var journal: Journal?

  /// Why `relay.db` and `journal.db` must not be used together; nil if they may, or if none exists.
  func refusal(in directory: String) -> StoreError? {
    guard let relay else {
      // The journal is made first, so a journal without rows means that nothing was ever written.
      guard let journal, journal.last != 0 else { return nil }
      return Self.lone("journal.db", without: "relay.db", in: directory)
    }
    guard let journal else { return Self.lone("relay.db", without: "journal.db", in: directory) }
    let remedy = "restore both files from one backup"
    guard relay.store == journal.store else {
      return StoreError(
        .mixed, "relay.db and journal.db in \(directory) belong to two different stores; \(remedy)")
    }
    guard relay.journalled <= journal.last else {
      return StoreError(
        .mixed,
        "journal.db in \(directory) is older than relay.db (it ends with row \(journal.last), and "
          + "relay.db was written when it ended with row \(relay.journalled)), so that accepted "
          + "changes would be missing; \(remedy)")
    }
    let late = zip(relay.cursors, journal.folded).enumerated().first { $0.element.0 < $0.element.1 }
    guard let late else { return nil }
    return StoreError(
      .mixed,
      "relay.db in \(directory) is older than journal.db (partition \(late.offset) is folded to "
        + "\(late.element.0.number), and the journal was deleted to \(late.element.1.number)), so "
        + "that accepted changes would be missing; \(remedy)")
  }

  private static func lone(
    _ name: String, without other: String, in directory: String
  ) -> StoreError {
    StoreError(
      .mixed,
      "\(other) is missing or empty in \(directory), beside a \(name) that is not; restore both "
        + "files from one backup, or move \(name) away to begin with an empty store")
  }
}

extension StorePair {
  /// Reads the two files of a directory; a daemon may be writing them meanwhile.
  ///
  /// - Parameter leavesNothing: if true, the call makes no `-wal` and `-shm` files where there are
  ///   none.
  static func read(in directory: String, leavesNothing: Bool) throws(StoreError) -> StorePair {
    func value<Value>(
      _ name: String, _ body: (GRDB.Database) throws -> Value?
    ) throws(StoreError) -> Value? {
      try StoreReading(path: directory + "/" + name, leavesNothing: leavesNothing)?.read(body)
    }
    // Read the journal between two reads of relay.db. Each file has a note about the state of the
    // other file, and the note must be read before the state with which it is compared.
    let before = try value("relay.db") { try Relay($0) }
    let journal = try value("journal.db") { try Journal($0) }
    var relay = try value("relay.db") { try Relay($0) }
    relay?.journalled = before?.journalled ?? 0
    return StorePair(relay: relay, journal: journal)
  }

  private static func isMade(_ database: GRDB.Database) throws -> Bool {
    try Int32.fetchOne(database, sql: "PRAGMA user_version") ?? 0 > 0
  }
}

extension StorePair.Relay {
  /// Reads what `relay.db` records; nil for a file that has no tables yet.
  init?(_ database: GRDB.Database) throws {
    guard try StorePair.isMade(database),
      let row = try Row.fetchOne(database, sql: "SELECT store, journalled, partitions FROM meta")
    else { return nil }
    let count: Int = row[2]
    guard count == PartitionID.count else {
      throw StoreError(
        .newer,
        "the store's relay.db has \(count) partitions, and this version serves "
          + "\(PartitionID.count); use the version that made the store")
    }
    store = row[0]
    journalled = row[1]
    let places = try PartitionPlaces(database)
    cursors = (0..<PartitionID.count).map { places.cursors[PartitionID($0)] ?? .zero }
  }
}

extension StorePair.Journal {
  /// Reads from `journal.db` the id of its store, the number of its last row, and how far each
  /// partition was folded when rows were last deleted; nil for a file that has no tables yet.
  init?(_ database: GRDB.Database) throws {
    guard try StorePair.isMade(database),
      let row = try Row.fetchOne(database, sql: "SELECT store, deleted, folded FROM meta")
    else { return nil }
    store = row[0]
    let newest = try Int64.fetchOne(database, sql: "SELECT max(seq) FROM journal") ?? 0
    last = max(row[1], newest)
    var reader = StoreKeyReader(try row.data(2))
    folded = try (0..<PartitionID.count).map { _ in Ordinal(try reader.word()) }
  }
}
