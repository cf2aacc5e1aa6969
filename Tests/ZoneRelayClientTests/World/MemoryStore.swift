import Foundation
import ZoneRelayClient

/// A state store in memory, which outlives the client. It can refuse saves, as a full disk does.
final class MemoryStore: StateStore {
  struct Full: Error {}

  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var bytes: Data?
  nonisolated(unsafe) private var savesLeft = Int.max
  nonisolated(unsafe) private var savesDone = 0

  /// How many saves have succeeded.
  var saves: Int { lock.withLock { savesDone } }

  func load() throws -> Data? { lock.withLock { bytes } }

  func save(_ state: Data) throws {
    try lock.withLock {
      guard savesLeft > 0 else { throw Full() }
      savesLeft -= 1
      savesDone += 1
      bytes = state
    }
  }

  /// The next `saves` saves succeed, and every later save fails.
  func allow(saves: Int) { lock.withLock { savesLeft = saves } }
}
