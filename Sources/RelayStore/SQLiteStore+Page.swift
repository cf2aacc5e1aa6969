import Foundation
import GRDB
package import RelayCore
import RelayEngine

extension SQLiteStore {
  package func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    try await relay.read { [eras] in
      try FeedSnapshot(database: $0, knownEras: eras).page(query)
    }
  }

  package func zones(
    of user: UserID, _ database: RelayCore.Database, in scope: Scope, after zone: ZoneID?,
    limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    let key = FeedKey(scope: scope, kind: .database(user, database))
    return try await relay.read { [eras] in
      try FeedSnapshot(database: $0, knownEras: eras).zones(of: key, after: zone, limit: limit)
    }
  }

  package func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor {
    try await relay.read { [eras] in
      try FeedSnapshot(database: $0, knownEras: eras).head(of: feed)
    }
  }
}

extension SQLiteStore {
  package func subscriptions(
    of user: UserID, _ database: RelayCore.Database, in scope: Scope, after serial: Position,
    limit: Int
  ) async throws(StoreError) -> [SubscriptionRow] {
    let prefix = StoreKey(scope: scope, user: user, database: database)
    return try await relay.read { connection in
      try connection.rows(
        """
        SELECT body FROM subscriptions WHERE key >= ? AND key < ? AND serial > ?
        ORDER BY serial LIMIT ?
        """, [prefix.data, prefix.end, serial.column, limit]
      ).map { try SubscriptionRow(blob: $0.bytes(0)) }
    }
  }

  package func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: RelayCore.Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] {
    try await relay.read { connection in
      try ids.compactMap { id in
        let key = SubscriptionKey(scope: scope, user: user, database: database, id: id)
        let body: Data? = try connection.value(
          "SELECT body FROM subscriptions WHERE key = ?", [StoreKey(key).data])
        return try body.map { try SubscriptionRow(blob: [UInt8]($0)).subscription }
      }
    }
  }

  package func devices(
    of user: UserID?, in scope: Scope?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try await relay.read { database in
      if let user, let scope {
        return try DeviceReader.rows(of: user, scope, after: nil, limit: limit, in: database)
      }
      return try DeviceReader.rows(in: database, limit: limit) { key in
        (user == nil || key.user == user) && (scope == nil || key.scope == scope)
      }
    }
  }

  package func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try await relay.read { database in
      try DeviceReader.rows(of: user, scope, after: client, limit: limit, in: database)
    }
  }

  package func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    try await relay.read { database in
      try DeviceReader.rows(
        in: database, where: "client = ? ORDER BY key", [StoreKey(client.bits).data])
    }
  }
}

/// Reads devices from their table.
enum DeviceReader {
  static func rows(
    in database: GRDB.Database, where condition: String, _ arguments: StatementArguments
  ) throws -> [DeviceRow] {
    try database.rows("\(select) WHERE \(condition)", arguments).map(device)
  }

  /// At most `limit` devices of one user after `client`, ordered by client, which is also the order
  /// of their keys.
  static func rows(
    of user: UserID, _ scope: Scope, after client: ClientID?, limit: Int,
    in database: GRDB.Database
  ) throws -> [DeviceRow] {
    let prefix = StoreKey(scope: scope, user: user)
    // Without a client, begin at the prefix: the user's devices have longer keys, which follow it.
    let last = client.map { StoreKey(DeviceKey(scope: scope, user: user, client: $0)) } ?? prefix
    return try rows(
      in: database, where: "key > ? AND key < ? ORDER BY key LIMIT ?",
      [last.data, prefix.end, limit])
  }

  /// The first `limit` devices that `isWanted` picks, ordered by client. Reading stops at the last
  /// of them.
  static func rows(
    in database: GRDB.Database, limit: Int, where isWanted: (DeviceKey) -> Bool
  ) throws -> [DeviceRow] {
    let cursor = try Row.fetchCursor(
      try database.cachedStatement(sql: "\(select) ORDER BY client, key"))
    var rows: [DeviceRow] = []
    while rows.count < limit, let row = try cursor.next() {
      if isWanted(try row.key(0) { try $0.device() }) { rows.append(try device(row)) }
    }
    return rows
  }

  private static let select = "SELECT key, registered, registration, body, lane FROM devices"

  private static func device(_ row: Row) throws -> DeviceRow {
    DeviceRow(
      key: try row.key(0) { try $0.device() }, address: try Address(blob: row.bytes(3)),
      registeredAt: Instant(milliseconds: row[1]), registration: Ordinal(column: row[2]),
      lane: try LaneRecord(blob: row.bytes(4)))
  }
}
