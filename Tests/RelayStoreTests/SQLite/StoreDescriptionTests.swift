import Foundation
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// What can be read from a store's files, whether or not a daemon uses the store.
@Suite struct StoreDescriptionTests {
  @Test func `a store tells the time of its last fold, also while a daemon runs`() async throws {
    let home = try SQLiteHome()
    let directory = home.settings.directory
    #expect(try StoreDescription(of: directory) == nil)
    #expect(StoreDescription.lastHolder(of: directory) == nil)
    let made = try home.store()
    #expect(try StoreDescription(of: directory)?.hasServed == false)
    await made.close()

    let bench = try await Bench(home)
    var description = try #require(try StoreDescription(of: directory))
    #expect(description.hasServed && description.time == nil)
    #expect(StoreDescription.lastHolder(of: directory) == getpid())
    try await bench.fold { _ in }
    description = try #require(try StoreDescription(of: directory))
    #expect(description.time == bench.at)
    await bench.store.close()
    #expect(try StoreDescription(of: directory) == description)
    let names = try FileManager.default.contentsOfDirectory(atPath: directory)
    #expect(!names.contains { $0.hasSuffix("-shm") }, "the reading leaves nothing: \(names)")
  }

  @Test func `a file that is no store is an error`() throws {
    let home = try SQLiteHome()
    try Data("no database".utf8).write(to: URL(fileURLWithPath: home.path("relay.db")))
    let refused = refusal { try StoreDescription(of: home.settings.directory) }
    #expect(refused?.code == .corrupt)
  }
}
