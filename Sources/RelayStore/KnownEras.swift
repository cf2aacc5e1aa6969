import GRDB
import RelayCore
import Synchronization

/// The eras of partitions, as a snapshot has them. A snapshot that has a position of an era has the
/// era too.
///
/// A start that adds an era raises the partition's epoch in the same transaction. So if the
/// remembered eras were read at the snapshot's epoch, they are the snapshot's eras, and only the
/// epoch is read again. This matters because a store that was started a thousand times has a
/// thousand eras in each partition.
final class KnownEras: Sendable {
  private let known = Mutex<[PartitionID: (epoch: Int64, eras: Eras)]>([:])

  /// - Parameter database: within a snapshot.
  func eras(of partition: PartitionID, in database: GRDB.Database) throws -> Eras {
    let place = Int(partition.number)
    let epoch: Int64 = try database.value("SELECT epoch FROM partitions WHERE id = ?", [place]) ?? 0
    if let known = known.withLock({ $0[partition] }), known.epoch == epoch { return known.eras }
    let rows = try database.rows(
      "SELECT era, first FROM eras WHERE partition = ? ORDER BY epoch", [place])
    let eras = Eras(try rows.map { try Era(id: $0[0], first: $0[1]) })
    known.withLock { $0[partition] = (epoch, eras) }
    return eras
  }
}
