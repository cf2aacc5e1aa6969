import RelayCore
import RelayEngine
import RelayStore

/// Why a store does not open; nil if it does.
func refusal(_ open: () throws -> SQLiteStore) -> StoreError? {
  do {
    _ = try open()
    return nil
  } catch {
    return error as? StoreError
  }
}
