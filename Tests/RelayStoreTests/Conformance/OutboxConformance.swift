import Foundation
import GRDB
import RelayCore
import RelayEngine
import Testing

@testable import RelayStore

/// Messages wait in the outbox until their targets have received them.
@Suite struct OutboxConformance {
  @Test(arguments: StoreKind.allCases)
  func `a forwarded message stays until delivered, and heard serials only rise`(
    kind: StoreKind
  ) async throws {
    var bench = try await Bench.fresh(kind)
    _ = bench.next()
    let rows = [
      bench.message(to: PartitionID(3), serial: 1), bench.message(to: PartitionID(9), serial: 1),
    ]
    try await bench.fold { $0.outbox = rows }
    try await bench.fold { $0.outbox = rows }
    try await bench.fold { $0.heard = [Heard(source: PartitionID(5), serial: Position(bits: 90))] }
    try await bench.fold { $0.heard = [Heard(source: PartitionID(5), serial: Position(bits: 40))] }
    try await bench.fold { $0.delivered = [rows[0].key] }
    let tables = try await bench.store.load(bench.lease(of: bench.home))
    #expect(tables.outbox == [rows[1]])
    #expect(tables.heard == [Heard(source: PartitionID(5), serial: Position(bits: 90))])
  }

  /// A message to many targets is kept once. Each target receives it, or waits for it, on its own.
  @Test(arguments: StoreKind.allCases)
  func `the outbox tracks each target of a message separately`(kind: StoreKind) async throws {
    var bench = try await Bench.fresh(kind)
    var draw = SeededRandom(seed: 7)
    var waiting = [1, 2, 3].flatMap { bench.messages(of: $0, draw.message(ofBytes: 100)) }
    // The rows of message 4 go in with the last target first, and their serials follow that order,
    // so the order of the serials is not the order of the targets.
    waiting += bench.messages(of: 4, draw.message(ofBytes: 100)).reversed().enumerated().map {
      var row = $1
      row.key.serial = Position(Ordinal(4), index: $0)
      return row
    }
    _ = bench.next()
    try await bench.fold { $0.outbox = waiting }
    while !waiting.isEmpty {
      let lease = bench.lease(of: bench.home)
      #expect(try await Set(bench.store.load(lease).outbox) == Set(waiting))
      let places = Set((0..<40).map { _ in draw.number(0..<waiting.count) })
      let keys = places.sorted().map { waiting[$0].key }
      waiting.removeAll { keys.contains($0.key) }
      _ = bench.next()
      try await bench.fold { $0.delivered = keys + keys.prefix(1) }
    }
    #expect(try await bench.store.load(bench.lease(of: bench.home)).outbox.isEmpty)
  }

  @Test func `the outbox stores the bytes of a message to many targets once`() async throws {
    let home = try SQLiteHome()
    var bench = try await Bench(home)
    var draw = SeededRandom(seed: 1)
    let rows = bench.messages(of: 1, draw.message(ofBytes: 100_000))
    _ = bench.next()
    try await bench.fold { $0.outbox = rows }
    await bench.store.close()
    let tables = try DatabaseQueue(path: home.path("relay.db"))
    func sum(_ sql: String) throws -> Int {
      try tables.read { try Int.fetchOne($0, sql: sql) } ?? -1
    }
    #expect(try (100_000..<101_000).contains(sum("SELECT sum(length(message)) FROM outbox")))
    // While only some targets have received the message, a row notes which ones wait. When all
    // targets have received it, no row is left.
    bench = try await Bench(home, era: 900)
    _ = bench.next()
    try await bench.fold { $0.delivered = [rows[9].key] }
    #expect(try sum("SELECT count(*) FROM outbox_waiting") == 1)
    _ = bench.next()
    try await bench.fold { $0.delivered = rows.map(\.key) }
    #expect(try sum("SELECT count(*) FROM outbox") == 0)
    #expect(try sum("SELECT count(*) FROM outbox_waiting") == 0)
  }
}

extension Bench {
  /// One message to all partitions.
  fileprivate func messages(of ordinal: UInt64, _ message: Forwarded.Message) -> [OutboxRow] {
    PartitionID.all.enumerated().map { index, target in
      OutboxRow(
        source: home,
        key: OutboxRow.Key(target: target, serial: Position(Ordinal(ordinal), index: index)),
        message: message)
    }
  }
}
