/// A registration's claim on its address. An address belongs to one registration: the newest
/// registration wins, in whatever order the folds come.
package struct AddressClaim: Sendable {
  package var key: DeviceKey
  package var address: Address
  package var partition: PartitionID
  package var registeredAt: Instant
  package var registration: Ordinal

  package init(_ row: DeviceRow, partition: PartitionID) {
    key = row.key
    address = row.address
    self.partition = partition
    registeredAt = row.registeredAt
    registration = row.registration
  }

  /// Whether this claim wins against `other`. Ordinals compare within a partition only; between two
  /// partitions the time of registration decides. If the two times are equal, the keys decide, so
  /// that the same claim always wins.
  package func isNewer(than other: AddressClaim) -> Bool {
    if partition == other.partition { return registration > other.registration }
    if registeredAt != other.registeredAt { return registeredAt > other.registeredAt }
    return other.key < key
  }

  /// The message that tells this claim's partition that the fold of `row` displaced this claim.
  ///
  /// The serial comes from the fact that registered `row`. This fact is in the cut that is folded,
  /// so the serial is above every serial of earlier cuts on its track. The step of a registration
  /// sends no messages, so the core uses no serial of this fact.
  package func displaced(by row: DeviceRow, in source: PartitionID) -> OutboxRow {
    OutboxRow(
      source: source,
      key: OutboxRow.Key(
        target: partition, serial: Position(row.registration, index: Self.serialIndex)),
      message: .displaced(Displacement(device: key, registration: registration)))
  }

  package static let serialIndex = 60_000
}
