import Foundation
import GRDB
import RelayCore
import RelayEngine

/// Saves devices. Each address belongs to one device only: the one with the newest registration, so
/// that a device gets no wake for a user who has signed out of it (P9).
struct DeviceWriter {
  let database: GRDB.Database
  let partition: PartitionID

  /// - Returns: the message to the device that lost the address by this save; nil if no device lost
  ///   the address.
  func save(_ row: DeviceRow) throws -> OutboxRow? {
    let key = StoreKey(scope: row.key.scope, address: row.address)
    if try saveLane(of: row, key) { return nil }
    let address = key.data
    let (holds, loser) = try contest(AddressClaim(row, partition: partition), address)
    try database.run(
      """
      INSERT INTO devices
        (key, partition, client, address, holds, registered, registration, body, lane)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (key) DO UPDATE SET address = excluded.address, holds = excluded.holds,
        registered = excluded.registered, registration = excluded.registration,
        body = excluded.body, lane = excluded.lane
      """,
      [
        StoreKey(row.key).data, Int(partition.number), StoreKey(row.key.client.bits).data,
        address, holds ? 1 : 0, row.registeredAt.milliseconds, row.registration.column,
        Data(row.address.blob), Data(row.lane.blob),
      ])
    return loser.map { $0.displaced(by: row, in: partition) }
  }

  /// Updates only the lane, because nearly every save changes nothing else. The registration's
  /// number shows whether more has changed.
  ///
  /// - Returns: false if the registration or the address is new too; nothing was written then.
  private func saveLane(of row: DeviceRow, _ address: StoreKey) throws -> Bool {
    let statement = try RawStatement(
      "UPDATE devices SET lane = ? WHERE key = ? AND registration = ? AND address = ?",
      in: database)
    statement.bind(row.lane.blob, at: 1)
    statement.bind(StoreKey(row.key).bytes, at: 2)
    statement.bind(row.registration.column, at: 3)
    statement.bind(address.bytes, at: 4)
    try statement.run()
    return database.changesCount > 0
  }

  /// Decides which device holds the address from now on.
  ///
  /// - Returns: whether the claimant holds the address, and which claim lost it.
  private func contest(
    _ claim: AddressClaim, _ address: Data
  ) throws -> (holds: Bool, loser: AddressClaim?) {
    guard !claim.address.token.isEmpty else { return (false, nil) }
    let rows = try database.rows(
      """
      SELECT key, partition, registered, registration FROM devices
      WHERE address = ? AND holds = 1
      """, [address])
    guard let row = rows.first else { return (true, nil) }
    var holder = claim
    holder.key = try row.key(0) { try $0.device() }
    holder.partition = try PartitionID(column: row[1])
    holder.registeredAt = Instant(milliseconds: row[2])
    holder.registration = Ordinal(column: row[3])
    guard holder.key != claim.key else { return (true, nil) }
    guard claim.isNewer(than: holder) else { return (false, claim) }
    try database.run("UPDATE devices SET holds = 0 WHERE key = ?", [row[0] as Data])
    return (true, holder)
  }
}
