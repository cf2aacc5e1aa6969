import Foundation
import GRDB
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// A SQLite store reads on a few threads, which end with the store.
@Suite(.timeLimit(.minutes(1))) struct ReadingTests {
  /// Reads that do not end until the test releases them.
  private final class Gate: Sendable {
    private let begun: AsyncStream<Int>
    private let begin: AsyncStream<Int>.Continuation
    private let semaphore = DispatchSemaphore(value: 0)

    init() { (begun, begin) = AsyncStream.makeStream() }

    func hold(_ relay: RelayFile, _ number: Int) async throws(StoreError) {
      try await relay.read { _ in
        self.begin.yield(number)
        self.semaphore.wait()
      }
    }

    /// Waits until `count` further reads have begun, and returns their numbers.
    func begun(_ count: Int) async -> Set<Int> {
      var numbers: Set<Int> = []
      for await number in begun {
        numbers.insert(number)
        if numbers.count == count { break }
      }
      return numbers
    }

    func letGo() { semaphore.signal() }
  }

  @Test func `a closing store refuses waiting reads and lets the running read end`()
    async throws
  {
    let home = try SQLiteHome { $0.readersMax = 1 }
    let store = try home.store()
    let (relay, gate) = (store.relay, Gate())
    async let held: Void = gate.hold(relay, 0)
    #expect(await gate.begun(1) == [0])
    async let waiting = Self.refusal(of: relay)
    async let closing: Void = store.close()
    // Because the store closes, the waiting read is refused although the first still reads.
    #expect(await waiting == .closed(file: relay.path))
    gate.letGo()
    try await held
    await closing
    #expect(await Self.refusal(of: relay) == .closed(file: relay.path))
  }

  /// SQLite reports a page that cannot be read as a damaged page.
  @Test func `the store distinguishes a read error from a damaged page`() {
    func code(_ number: Int32) -> StoreError.Code? {
      do {
        try DiskError.told {
          errno = number
          throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        return nil
      } catch {
        return StoreError.unreadable(error, file: "relay.db").code
      }
    }
    #expect(code(EIO) == .unreadable)
    errno = EIO
    #expect(code(0) == .corrupt)
  }

  @Test func `readersMax reads run at once, and the next begins when one ends`()
    async throws
  {
    let home = try SQLiteHome { $0.readersMax = 2 }
    let store = try home.store()
    let (relay, gate) = (store.relay, Gate())
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<3 { group.addTask { try await gate.hold(relay, number) } }
      let first = await gate.begun(2)
      gate.letGo()
      let third = await gate.begun(1)
      #expect(first.union(third) == [0, 1, 2])
      gate.letGo()
      gate.letGo()
      try await group.waitForAll()
    }
    await store.close()
  }

  /// A page is right whichever process wrote the positions that it shows.
  @Test func `a page uses the eras of its own snapshot`() async throws {
    var bench = try await Bench.fresh(.sqlite)
    let store = try #require(bench.store as? SQLiteStore)
    try await bench.makeZone()
    let position = try await bench.record("a", .created)
    let (partition, first) = (Int(bench.home.number), Int64(position.ordinal.number))
    #expect(try await bench.read(bench.feed).next.era != 7_777)
    // Another process has claimed the partition.
    let written = await store.relay.write { database in
      try database.execute(
        sql: "INSERT INTO eras (partition, epoch, era, first) VALUES (?, 99, 7777, ?)",
        arguments: [partition, first])
      try database.execute(
        sql: "UPDATE partitions SET epoch = 99 WHERE id = ?", arguments: [partition])
    }
    try written.get()
    let page = try await bench.read(bench.feed)
    #expect(page.next == FeedCursor(era: 7_777, position: position))
    #expect(try await bench.read(bench.feed, after: page.next).entries.isEmpty)
  }

  private static func refusal(of relay: RelayFile) async -> StoreError? {
    do throws(StoreError) {
      try await relay.read { _ in }
      return nil
    } catch {
      return error
    }
  }
}
