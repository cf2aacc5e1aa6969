import Foundation
import GRDB
package import RelayCore
package import RelayEngine
import Synchronization

extension SQLiteStore {
  static func checkDirectory(_ directory: String) throws(StoreError) {
    guard FileManager.default.fileExists(atPath: directory) else {
      throw StoreError(
        .unreadable, "store.directory \(directory) does not exist; make it, owned by the daemon")
    }
    guard isDirectory(directory) else {
      throw StoreError(.unreadable, "store.directory \(directory) is not a directory")
    }
    guard access(directory, R_OK | W_OK | X_OK) == 0 else {
      if errno == EROFS {
        throw StoreError(
          .unwritable,
          "the file system of store.directory \(directory) is read-only; mount it for writing")
      }
      throw StoreError(
        .unreadable,
        "store.directory \(directory) cannot be written: \(StoreLock.reason); "
          + "let the daemon's user own it")
    }
  }

  /// Why a daemon could not use what is in a directory; nil if no reason is found or the directory
  /// is empty. Takes no lock and changes nothing, so it may run beside a daemon. Ignores files that
  /// only the daemon's user may read, and a full disk, because the daemon waits for room.
  package static func refusal(in directory: String) -> StoreError? {
    let names = ["lock", "journal.db", "relay.db"]
    if let taken = names.map({ "\(directory)/\($0)" }).first(where: isDirectory) {
      return StoreError(
        .unreadable, "cannot open \(taken): Is a directory; it must be the daemon's own file")
    }
    do throws(StoreError) {
      for file in [StoreFile.journal(in: directory), .relay(in: directory)] {
        try StoreReading(path: file.path, leavesNothing: true)?.read { try file.checkForm($0) }
      }
      return try StorePair.read(in: directory, leavesNothing: true).refusal(in: directory)
    } catch {
      return error.code == .unreadable || error.code == .full ? nil : error
    }
  }

  private static func isDirectory(_ path: String) -> Bool {
    var isDirectory: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory)
      && isDirectory.boolValue
  }

  package func claim(
    eras: [PartitionID: UInt64]
  ) async throws(StoreError) -> [Lease] {
    let partitions = eras.keys.sorted()
    // Refuse appends under earlier leases from now on, and wait until the running appends have
    // ended, so that the last ordinals are final.
    control.withLock { control in
      for partition in partitions { control.epochs[Int(partition.number)] += 1 }
    }
    await journal.barrier()
    let lasts = journal.lasts
    let epochs = control.withLock { $0.epochs }
    let journalled = journal.last
    let result = await relay.write { database in
      let places = try PartitionPlaces(database)
      try Self.note(journalled: journalled, in: database)
      return try partitions.map { partition in
        try Self.take(
          partition, at: places, epoch: epochs[Int(partition.number)], era: eras[partition] ?? 0,
          after: lasts[Int(partition.number)], in: database)
      }
    }
    return try settle(result).get()
  }

  /// Writes a partition's new epoch and era. The new era replaces an era in which no ordinal was
  /// given, so that idle restarts leave no rows. The first era always stays, because its id is in
  /// the tokens of feeds that were empty.
  private static func take(
    _ partition: PartitionID, at places: PartitionPlaces, epoch: UInt64, era: UInt64,
    after last: Ordinal, in database: GRDB.Database
  ) throws -> Lease {
    let index = Int(partition.number)
    let cursor = places.cursors[partition] ?? .zero
    let next = Era(id: era, first: max(last, cursor).next)
    let all = places.eras[index].all
    if all.count > 1, all.last?.first == next.first {
      try database.execute(
        sql: """
          DELETE FROM eras WHERE partition = ?1 AND epoch =
            (SELECT max(epoch) FROM eras WHERE partition = ?1)
          """, arguments: [index])
    }
    try database.execute(
      sql: """
        INSERT INTO partitions (id, epoch, cursor, forgotten, restored, expired, stopped, time)
        VALUES (?, ?, 0, 0, 0, 0, 0, 0)
        ON CONFLICT DO UPDATE SET epoch = excluded.epoch
        """, arguments: [index, Int64(bitPattern: epoch)])
    try database.execute(
      sql: "INSERT INTO eras (partition, epoch, era, first) VALUES (?, ?, ?, ?)",
      arguments: [
        index, Int64(bitPattern: epoch), Int64(bitPattern: era), Int64(next.first.number),
      ])
    return Lease(partition: partition, epoch: epoch, era: next)
  }
}

/// Epochs, cursors and eras of all partitions, as the tables have them.
struct PartitionPlaces {
  var epochs = [UInt64](repeating: 0, count: PartitionID.count)
  var cursors: [PartitionID: Ordinal] = [:]
  var eras: [Eras]

  init(_ database: GRDB.Database) throws {
    for row in try Row.fetchAll(database, sql: "SELECT id, epoch, cursor FROM partitions") {
      let partition = try PartitionID(column: row[0])
      let epoch = try (row[1] as Int64).checked("epoch", in: 0...Int64.max)
      epochs[Int(partition.number)] = UInt64(epoch)
      cursors[partition] = try Ordinal(checked: row[2])
    }
    var all = [[Era]](repeating: [], count: PartitionID.count)
    let rows = try Row.fetchAll(
      database, sql: "SELECT partition, era, first FROM eras ORDER BY partition, epoch")
    for row in rows {
      let era = try Era(id: row[1], first: row[2])
      all[Int(try PartitionID(column: row[0]).number)].append(era)
    }
    eras = all.map { Eras($0) }
  }
}

extension Era {
  /// - Throws: `WrongNumber` if `first` cannot be an ordinal.
  init(id: Int64, first: Int64) throws {
    self.init(id: UInt64(bitPattern: id), first: try Ordinal(checked: first))
  }
}
