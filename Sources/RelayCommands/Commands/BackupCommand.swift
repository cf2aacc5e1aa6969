import ArgumentParser
import Foundation
import RelayEngine
import RelayKeys
import RelayStore

struct BackupCommand: RelayCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies the store and its keys, also while the daemon runs, and checks the copy.",
    discussion: """
      Copies relay.db, journal.db and keys/ as they are at one moment, and reads every page of the \
      copy. The daemon goes on meanwhile, and needs not run. Reads the store itself, so run it as \
      root or as the user that the daemon runs as; files that root copies are given to that user. \
      The directory must be empty, or not there yet; after a failure it holds no relay.db.

      A reader of keys/ can make change tokens: keep the copy private. The copy does not hold the \
      configuration and the files that it names, so back those up as well.

      To restore: stop the daemon, copy everything back into store.directory, with the \
      provider-tokens/ of the store that is replaced, start it, and run zonerelay expire-tokens.

      Examples:
        zonerelay backup /backup/zonerelay-2026-11-22
        zonerelay backup --config /etc/zonerelay/zonerelay.yaml backup-1

      Exits 0 if the copy is whole, 1 if not.
      """)

  @Argument(help: "An empty directory, or one that is not there yet.")
  var directory: String

  @OptionGroup var options: ConfigurationOptions

  func perform(_ console: Console) async throws -> ExitStatus {
    let store = try options.store()
    let place = try BackupPlace(options.absolute(directory), store: store.directory)
    let keys: Int
    do {
      keys = try copy(store.directory, to: place, console)
    } catch {
      place.abandon()
      throw error
    }
    if store.hasListedKeys {
      console.talk(
        line: "zonerelay: warning: the files of server.tokenKeys are not in it; copy them as well")
    }
    console.answer(
      line: "backed up \(store.directory) to \(place.directory): relay.db, journal.db and "
        + (keys == 1 ? "1 key" : "\(keys) keys"))
    return .done
  }

  /// - Returns: the number of keys.
  private func copy(_ store: String, to place: BackupPlace, _ console: Console) throws -> Int {
    let progress = BackupProgress(console)
    let key = try KeyRing.identityCheck(storeDirectory: store)
    if let key, let refusal = SQLiteStore.refusal(of: key, in: store, leavesNothing: false) {
      throw refusal
    }
    try StoreBackup(from: store, to: place.draft) { progress.tell($0) }.run()
    let keys = try KeyCopies(source: "\(store)/keys", target: "\(place.draft)/keys").run()
    guard try KeyRing.identityCheck(storeDirectory: place.draft) == key else {
      throw Failure(
        .failed, "\(store)/keys/1.key was replaced while the store was copied", hint: "begin again")
    }
    try place.finish(
      ["keys", "journal.db-wal", "relay.db-wal", "journal.db", "relay.db"], ownerOf: store)
    return keys
  }
}
