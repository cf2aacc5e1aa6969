import RelayCore
import RelayKeys
import RelayStore

/// What a look at the store found. A daemon may use the store at the same time.
struct StoreEvidence: Sendable {
  var directory: String
  /// Why the daemon would refuse the store's files; empty if it would not.
  var refusals: [Problem]
  /// Why the key in the store's directory is not the key of this store; nil if it is, or if there
  /// is no key.
  var foreignKey: StoreError?
  var unusableKey: KeyFailure?
  var hasKey: Bool
  /// Nil if there is no store yet.
  var description: StoreDescription?
  /// Why the store could not be looked at; nil if it could.
  var unreadable: StoreError?
  /// True if this user may not look into the directory.
  var isClosed = false

  private var key: String { "\(directory)/keys/1.key" }

  var findings: [Finding] {
    var found = refusals.map { refusal in
      Finding.found(.storeRefused, directory, cause: refusal.cause, remedy: refusal.remedy)
    }
    if let foreignKey {
      found.append(.found(.tokenKeyForeign, key, cause: foreignKey.message))
    } else if let unusableKey {
      found.append(.found(.tokenKeyUnusable, unusableKey.path, cause: unusableKey.found))
    } else if !hasKey, description?.hasServed == true {
      found.append(.found(.tokenKeyMissing, key, cause: "the store has served, and is not new"))
    }
    guard found.isEmpty else { return found }
    if unreadable != nil || isClosed {
      return [
        .skipped(
          .store, directory, unreadable?.message ?? "this user may not look into it",
          remedy: Finding.otherUser)
      ]
    }
    let state =
      description == nil
      ? "there is no store yet; the first start makes it"
      : "its files belong together, and its token key is its own"
    return [.passed(.store, directory, state)]
  }
}
