public import Foundation
public import ZoneRelayClient

/// A client's state in memory, for tests. Two clients that get the same value, one after the other,
/// are two launches of one installation.
public final class StateInMemory: StateStore {
  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var bytes: Data?

  public init() {}

  public func load() -> Data? { lock.withLock { bytes } }
  public func save(_ state: Data) { lock.withLock { bytes = state } }
}
