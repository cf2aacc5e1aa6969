import Foundation
import GRDB
package import RelayCore
import RelayEngine
import Synchronization

/// Which feeds are near their limit. The store keeps their keys in memory, because every request of
/// a producer needs them.
extension SQLiteStore {
  package var isAnyNearlyFull: Bool {
    let limits = settings.limits
    return min(limits.recordsPerZone, limits.zonesPerUser) <= limits.nearlyFull
      || control.withLock { !$0.nearlyFull.isEmpty }
  }

  package func isNearlyFull(_ feed: FeedKey) -> Bool {
    if settings.limits.isNearlyFull(feed, present: 0) { return true }
    guard isAnyNearlyFull else { return false }
    let key = feed.column.data
    return control.withLock { $0.nearlyFull.contains(key) }
  }

  package func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings {
    let max = settings.limits.subjectsMax(in: feed)
    return try await relay.read { database in
      guard let row = try FeedRow.find(feed.column, in: database) else {
        return Holdings(present: 0, held: [], max: max)
      }
      let held = try subjects.filter { try row.holds($0, in: database) }
      return Holdings(present: Int(row.present), held: held, max: max)
    }
  }

  /// Notes which feeds a durable fold has made nearly full, or no longer nearly full.
  func note(_ nearlyFull: [Data: Bool]) {
    guard !nearlyFull.isEmpty else { return }
    control.withLock { control in
      control.nearlyFull.subtract(nearlyFull.keys)
      control.nearlyFull.formUnion(nearlyFull.filter(\.value).keys)
    }
  }

  /// The nearly full feeds at the start. The result may also contain feeds that are not nearly
  /// full: such a feed costs only one look at its row.
  static func nearlyFull(_ database: GRDB.Database, _ limits: Limits) throws -> Set<Data> {
    let least = min(limits.recordsPerZone, limits.zonesPerUser) - limits.nearlyFull
    let (index, term) =
      least > 1_000 ? ("INDEXED BY feeds_by_present", "AND present > 1000") : ("", "")
    return try Data.fetchSet(
      database, sql: "SELECT key FROM feeds \(index) WHERE present >= ? \(term)",
      arguments: [max(1, least)])
  }
}
