public import Foundation

/// What a round has brought.
public struct FetchReport: Hashable, Sendable {
  /// How many pages the sink has applied.
  public var pages = 0
  /// How many changed or deleted records these pages named.
  public var records = 0
  /// Zones that have changes or are gone.
  public var zones: Set<ZoneID> = []
  /// Zones that the relay refused to give, each with the reason. The round went on with the other
  /// zones, and each later round asks for these again. The code is ``RelayError/Code/refused``.
  public var failures: [ZoneID: RelayError] = [:]
  /// When the first of the zones that must wait may be fetched. Call
  /// ``ZoneRelayClient/fetchAllChanges(_:)`` then. nil if no zone waits.
  public var deferredUntil: Date?
  /// Whether the wake belonged to another user or container, so that the client did nothing.
  public var isIgnored = false
  /// Zones of the database being read that the relay does not find. Empty when the round has ended.
  var missing: Set<ZoneID> = []

  mutating func add(_ page: ZonePage) {
    pages += 1
    records += page.deleted.count + page.changed.count
    zones.insert(page.zone)
  }
}
