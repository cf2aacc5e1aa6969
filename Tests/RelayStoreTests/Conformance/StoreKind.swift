import Foundation
import RelayCore
import RelayEngine
import RelayMemory
import RelayMemoryStore
import RelayStore

/// All implementations that must pass the suite. A new store adds a case to this list.
enum StoreKind: CaseIterable, Sendable {
  case sqlite
  case memory

  func home(_ limits: Limits = Limits()) throws -> any StoreHome {
    switch self {
    case .sqlite: try SQLiteHome(limits: limits)
    case .memory: MemoryHome(limits: limits)
    }
  }
}

/// The place of a store's data while no store is open.
protocol StoreHome: Sendable {
  /// Opens a store on the data.
  func open() throws -> any Store
  /// A copy of what a kill -9 at this moment would leave behind.
  func crashed() throws -> any StoreHome
}

/// A directory for one store; `deinit` removes it.
final class SQLiteHome: StoreHome {
  let settings: StoreSettings

  init(limits: Limits = Limits(), change: (inout StoreSettings) -> Void = { _ in }) throws {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("zonerelay-store-\(UUID().uuidString)").path
    var settings = StoreSettings(directory: directory)
    settings.limits = limits
    change(&settings)
    self.settings = settings
    try FileManager.default.createDirectory(
      atPath: settings.directory, withIntermediateDirectories: true)
  }

  // A temporary directory that is left behind does no harm.
  deinit { try? FileManager.default.removeItem(atPath: settings.directory) }

  func open() throws -> any Store { try SQLiteStore(settings) }
  func store() throws -> SQLiteStore { try SQLiteStore(settings) }

  func crashed() throws -> any StoreHome { try copy() }

  /// The files as they are now, without closing anything. Call it while no write is under way.
  func copy() throws -> SQLiteHome {
    let settings = settings
    let copy = try SQLiteHome(limits: settings.limits) {
      $0.checkpointPages = settings.checkpointPages
    }
    for name in ["journal.db", "journal.db-wal", "relay.db", "relay.db-wal"] {
      guard FileManager.default.fileExists(atPath: path(name)) else { continue }
      try FileManager.default.copyItem(atPath: path(name), toPath: copy.path(name))
    }
    return copy
  }

  func path(_ name: String) -> String { settings.directory + "/" + name }

  func size(_ name: String) throws -> Int {
    try Data(contentsOf: URL(fileURLWithPath: path(name))).count
  }
}

/// Keeps one store, which every `open` returns.
final class MemoryHome: StoreHome {
  private let store: MemoryStore

  init(limits: Limits) { store = MemoryStore(world: MemoryWorld(limits: limits)) }
  private init(world: MemoryWorld) { store = MemoryStore(world: world) }

  func open() throws -> any Store { store }
  func crashed() throws -> any StoreHome { MemoryHome(world: store.world) }
}
