import RelayCore
import RelayEngine
import RelayStore

/// Why a store does not open; nil if it does.
func refusal<Value>(_ open: () throws -> Value) -> StoreError? {
  do {
    _ = try open()
    return nil
  } catch {
    return error as? StoreError
  }
}
