import GRDB
import RelayCore
import Testing

@testable import RelayStore

/// The rows that a trim reads in a store where there is nothing to remove.
@Suite struct TrimPlanTests {
  @Test func `a trim finds the feeds to clear without a scan of all feeds`() async throws {
    let home = try SQLiteHome()
    let store = try home.store()
    let plan = try store.relay.inspect { database in
      let trim = Trim(database: database, partitions: Set(PartitionID.all))
      return try Row.fetchAll(
        database, sql: "EXPLAIN QUERY PLAN " + trim.clearing, arguments: [1_000]
      ).map { $0["detail"] as String }
    }
    #expect(plan == ["SCAN clearing", "SEARCH feeds USING INTEGER PRIMARY KEY (rowid=?)"])
    await store.close()
  }
}
