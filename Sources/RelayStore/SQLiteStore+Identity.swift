import Foundation
import GRDB
package import RelayCore
import RelayEngine

extension SQLiteStore {
  /// Refuses an identity key that this store has not had: the ids of notifications and pushes would
  /// be others than before. A store without a key takes this one. Called once, before the daemon
  /// serves anybody.
  ///
  /// - Parameters:
  ///   - check: 16 bytes that tell which key it is, and nothing of the key.
  ///   - isNew: the key was made at this start. It is taken as well: the one before was lost. If
  ///     that is found again, it may be put back.
  /// - Throws: `.mixed`, and nothing was changed; or why the store could not be written.
  package func claim(identity check: [UInt8], isNew: Bool) throws(StoreError) {
    precondition(check.count == Self.checkBytes, "a check of another length")
    let known = try relay.inspect {
      try Data.fetchOne($0, sql: "SELECT identities FROM meta") ?? Data()
    }
    let starts = stride(from: known.startIndex, to: known.endIndex, by: Self.checkBytes)
    guard !starts.contains(where: { known[$0...].starts(with: check) }) else { return }
    guard known.isEmpty || isNew else {
      throw StoreError(
        .mixed,
        "\(settings.directory)/keys/1.key belongs to another store; put back the key of this one, "
          + "which every backup of it has, or remove the file: then a new key is made, and all "
          + "clients begin anew once")
    }
    let result = relay.writeHere { database in
      try database.execute(sql: "UPDATE meta SET identities = ?", arguments: [known + check])
    }
    try settle(result).get()
  }

  private static let checkBytes = 16
}
