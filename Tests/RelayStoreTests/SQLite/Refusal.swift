import RelayCore
import RelayEngine
import RelayStore

/// The reason why a store does not open; nil if it opens.
func refusal<Value>(_ open: () throws -> Value) -> StoreError? {
  do {
    _ = try open()
    return nil
  } catch {
    return error as? StoreError
  }
}
