import Foundation
import RelayCore
import RelayEngine
import RelayStore

/// The files of a small store with a row of nearly every kind. Damaged files are made from them.
struct StoreSeed: Sendable {
  let relay: [UInt8]
  let journal: [UInt8]
  /// The offsets of each file's nonzero bytes: damage to empty pages shows nothing.
  let relayPlaces: [Int]
  let journalPlaces: [Int]

  /// The files, made once; `nil` if there is no room for them.
  static let made: StoreSeed? = Waiting.value { try? await make() } ?? nil

  private static func make() async throws -> StoreSeed {
    let home = try StoreDirectory()
    defer { home.remove() }
    let store = try SQLiteStore(home.settings)
    let leases = try await store.claim(
      eras: Dictionary(uniqueKeysWithValues: PartitionID.all.map { ($0, 1) }))
    var world = StoreSeedWorld()
    try await store.append(world.journalled, leases: leases)
    for _ in 0..<3 {
      let cut = world.cut()
      let displaced = try await store.fold(cut, leases: leases)
      world.folded(cut, displaced)
    }
    // Facts that are not folded stay in the journal.
    try await store.append(world.late, leases: leases)
    await store.close()
    return StoreSeed(relay: try home.bytes("relay.db"), journal: try home.bytes("journal.db"))
  }

  private init(relay: [UInt8], journal: [UInt8]) {
    (self.relay, self.journal) = (relay, journal)
    relayPlaces = relay.indices.filter { relay[$0] != 0 }
    journalPlaces = journal.indices.filter { journal[$0] != 0 }
  }

  /// Five bytes make one change: which file, where (three bytes), and the new byte.
  func damaged(by bytes: [UInt8]) -> (relay: [UInt8], journal: [UInt8]) {
    var files = (relay: relay, journal: journal)
    for start in stride(from: 0, to: bytes.count - 4, by: 5).prefix(64) {
      let number = bytes[(start + 1)...(start + 3)].reduce(0) { $0 << 8 | Int($1) }
      if bytes[start].isMultiple(of: 2) {
        files.relay[relayPlaces[number % relayPlaces.count]] = bytes[start + 4]
      } else {
        files.journal[journalPlaces[number % journalPlaces.count]] = bytes[start + 4]
      }
    }
    return files
  }
}

/// A directory for a store, in the system's folder for temporary files.
struct StoreDirectory: Sendable {
  let settings: StoreSettings

  init() throws {
    let path = NSTemporaryDirectory() + "zonerelay-fuzz-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    var settings = StoreSettings(directory: path)
    settings.readersMax = 1
    settings.cacheKiB = 1_024
    self.settings = settings
  }

  func path(_ name: String) -> String { settings.directory + "/" + name }

  func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(name))))
  }

  func fill(relay: [UInt8], journal: [UInt8]) throws {
    try Data(relay).write(to: URL(fileURLWithPath: path("relay.db")))
    try Data(journal).write(to: URL(fileURLWithPath: path("journal.db")))
  }

  func remove() {
    // A temporary directory that is left behind does no harm.
    try? FileManager.default.removeItem(atPath: settings.directory)
  }
}

/// Waits for a task. The caller's thread blocks, so it must not be one of those that run tasks.
enum Waiting {
  static func value<Value: Sendable>(of work: @escaping @Sendable () async -> Value) -> Value? {
    let result = TaskResult<Value>()
    let done = DispatchSemaphore(value: 0)
    Task {
      result.set(await work())
      done.signal()
    }
    done.wait()
    return result.value
  }
}
