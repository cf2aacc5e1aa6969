import Foundation
import GRDB
@testable import RelayCore
import RelayEngine
import Synchronization
import Testing

@testable import RelayStore

/// Copies of a store while it is written.
@Suite struct BackupTests {
  @Test func `a copy made under load has all entries acknowledged before it`()
    async throws
  {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    try await bench.makeZone()
    for index in 0..<300 { try await bench.step(index) }
    for round in 0..<4 {
      let target = try SQLiteHome()
      let isCopied = Atomic(false)
      let before = bench.lasts[bench.home]!.number
      async let copied: Void = Self.copy(home, to: target, isCopied)
      var index = 0
      repeat {
        try await bench.step(1_000 * (round + 1) + index)
        index += 1
      } while !isCopied.load(ordering: .acquiring)
      try await copied
      let again = try await Bench(target, era: 900)
      let cursor = try await again.store.load(again.lease(of: again.home)).cursor
      let tail = try await again.store.journal(again.home, after: cursor, limit: 100_000)
      let last = tail.last?.ordinal ?? cursor
      #expect(last.number >= before)
      #expect(tail.map(\.ordinal.number) == (cursor.number..<last.number).map { $0 + 1 })
      await again.store.close()
    }
  }

  @Test func `the backup of a store at rest reports its progress to the end`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for index in 0..<20 { try await bench.step(index) }
    await bench.store.close()
    let target = try SQLiteHome()
    let told = Mutex<[StoreBackup.Progress]>([])
    try StoreBackup(from: home.settings.directory, to: target.settings.directory) { progress in
      told.withLock { $0.append(progress) }
    }.run()
    for name in ["relay.db", "journal.db"] {
      let steps = told.withLock { $0 }.filter { $0.file == name }
      #expect(steps.first?.step == .copying && steps.last?.step == .checking)
      #expect(steps.dropLast().last?.bytes == steps[0].bytesInAll, "copied to the end")
      #expect(steps.allSatisfy { $0.bytesInAll == steps[0].bytesInAll })
      #expect(steps.last?.bytes == steps[0].bytesInAll)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: target.settings.directory)
    #expect(names.sorted() == ["journal.db", "journal.db-wal", "relay.db", "relay.db-wal"])
    for name in names {
      let attributes = try FileManager.default.attributesOfItem(atPath: target.path(name))
      #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
    }
    await (try target.store()).close()
  }

  /// A killed daemon leaves its logs, which SQLite would apply to the files copied back.
  @Test func `a backup copied over a killed store opens without the later entries`() async throws {
    let home = try SQLiteHome { $0.checkpointPages = 0 }
    var bench = try await Bench(home)
    try await bench.makeZone()
    for index in 0..<5 { try await bench.step(index) }
    let target = try SQLiteHome()
    try StoreBackup(from: home.settings.directory, to: target.settings.directory) { _ in }.run()
    let last = bench.lasts[bench.home]
    for index in 5..<40 { try await bench.step(index) }
    let killed = try home.copy()
    for name in try FileManager.default.contentsOfDirectory(atPath: target.settings.directory) {
      try FileManager.default.removeItem(atPath: killed.path(name))
      try FileManager.default.copyItem(atPath: target.path(name), toPath: killed.path(name))
    }
    let again = try await Bench(killed, era: 900)
    #expect(again.lasts[again.home] == last)
    await again.store.close()
  }

  @Test func `a backup of a missing store is refused and creates no file`() throws {
    let (home, target) = (try SQLiteHome(), try SQLiteHome())
    let refused = failure(from: home, to: target)
    #expect(refused?.code == .unreadable)
    #expect(refused?.message.contains("there is no store in \(home.settings.directory)") == true)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: target.settings.directory).isEmpty)
  }

  @Test func `a backup of a damaged store is refused`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for index in 0..<60 { try await bench.step(index) }
    await bench.store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: home.path("relay.db")))
    for index in bytes.count / 2..<bytes.count { bytes[index] = UInt8(truncatingIfNeeded: index) }
    try bytes.write(to: URL(fileURLWithPath: home.path("relay.db")))
    #expect(failure(from: home, to: try SQLiteHome())?.code == .corrupt)
  }

  @Test func `a backup of a damaged journal is refused and names the file`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    for index in 0..<60 { try await bench.step(index) }
    await bench.store.close()
    var bytes = try Data(contentsOf: URL(fileURLWithPath: home.path("journal.db")))
    // Overwrites all but the first page, without which the file does not open.
    for index in 4_096..<bytes.count { bytes[index] = 0xff }
    try bytes.write(to: URL(fileURLWithPath: home.path("journal.db")))
    let refused = failure(from: home, to: try SQLiteHome())
    #expect(refused?.code == .corrupt)
    #expect(refused?.message.contains(home.path("journal.db") + " is damaged") == true)
  }

  @Test func `a backup does not overwrite an existing file`() async throws {
    let (home, target) = (try SQLiteHome(), try SQLiteHome())
    await (try home.store()).close()
    try Data("mine".utf8).write(to: URL(fileURLWithPath: target.path("journal.db")))
    let refused = failure(from: home, to: target)
    #expect(refused?.code == .full)
    #expect(refused?.message.contains("File exists") == true)
    #expect(try target.size("journal.db") == 4)
  }

  private static func copy(
    _ home: SQLiteHome, to target: SQLiteHome, _ isCopied: borrowing Atomic<Bool>
  ) async throws {
    defer { isCopied.store(true, ordering: .releasing) }
    try StoreBackup(from: home.settings.directory, to: target.settings.directory) { _ in }.run()
  }

  private func failure(from home: SQLiteHome, to target: SQLiteHome) -> StoreError? {
    do throws(StoreError) {
      try StoreBackup(from: home.settings.directory, to: target.settings.directory) { _ in }.run()
      return nil
    } catch {
      return error
    }
  }
}

extension Bench {
  /// Journals an entry, and in two of three steps also folds a record.
  fileprivate mutating func step(_ index: Int) async throws {
    try await append(bytes: 2_000)
    guard index % 3 > 0 else { return }
    let position = Position(next())
    try await fold { cut in
      cut.feeds = [
        FeedCut(
          feed: feed, deltas: [delta("r\(index)", .created, position.ordinal.number)])
      ]
    }
  }
}
