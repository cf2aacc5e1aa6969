import Foundation
import GRDB
package import RelayCore
import RelayEngine

extension SQLiteStore {
  /// Refuses an identity key that this store has not had, because it would change the ids of
  /// notifications and pushes. A store that has never served takes any key. Called once, before the
  /// daemon serves.
  ///
  /// - Parameters:
  ///   - check: 16 bytes that identify the key and reveal nothing of it.
  ///   - isNew: true if this start made the key: the store is new, or its key was lost. After a
  ///     loss the store accepts both keys: if the lost key is found, an operator may put it back.
  /// - Throws: `.mixed` if the key is refused, and then nothing was changed; otherwise the reason
  ///   why the store could not be written.
  package func claim(identity check: [UInt8], isNew: Bool) throws(StoreError) {
    let known = try relay.inspect { try KnownIdentities($0) }
    if known.contains(check) { return }
    guard isNew || known.areOpen else { throw Self.foreignKey(in: settings.directory) }
    let result = relay.writeHere { database in
      try database.execute(
        sql: "UPDATE meta SET identities = ?", arguments: [known.checks + check])
    }
    try settle(result).get()
  }

  /// Why a store would refuse this identity key; nil if the store would accept the key, or if the
  /// store cannot be read. Takes no lock and changes nothing, so it may run beside a daemon.
  ///
  /// - Parameter leavesNothing: if true, the call makes no `-wal` and `-shm` files where there are
  ///   none.
  package static func refusal(
    of check: [UInt8], in directory: String, leavesNothing: Bool = true
  ) -> StoreError? {
    let file = StoreFile.relay(in: directory)
    do throws(StoreError) {
      let reading = try StoreReading(path: file.path, leavesNothing: leavesNothing)
      let known = try reading?.read { try KnownIdentities($0) }
      guard let known, !known.contains(check), !known.areOpen else { return nil }
      return foreignKey(in: directory)
    } catch {
      // The file cannot be read. What is wrong with it is reported by `refusal(in:)`, or by a
      // backup when it copies the file.
      return nil
    }
  }

  private static func foreignKey(in directory: String) -> StoreError {
    StoreError(
      .mixed,
      "\(directory)/keys/1.key belongs to another store; put back the key of this one, which its "
        + "backups have, or move the file away: then a new key is made, ids change, and clients "
        + "whose tokens it signed begin anew once")
  }
}

/// The identity keys that a store has had. 16 bytes stand for each key.
private struct KnownIdentities {
  private static let checkBytes = 16

  let checks: Data
  /// True if nothing in the store depends on a key yet, so that any key is accepted.
  let areOpen: Bool

  init(_ database: GRDB.Database) throws {
    checks = try Data.fetchOne(database, sql: "SELECT identities FROM meta") ?? Data()
    let hasServed = try PartitionPlaces(database).eras.contains { !$0.all.isEmpty }
    areOpen = checks.isEmpty || !hasServed
  }

  func contains(_ check: [UInt8]) -> Bool {
    stride(from: checks.startIndex, to: checks.endIndex, by: Self.checkBytes).contains {
      checks[$0...].prefix(Self.checkBytes).elementsEqual(check)
    }
  }
}
