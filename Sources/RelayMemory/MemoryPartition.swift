package import RelayCore

/// One partition's journal and tables.
package struct MemoryPartition: Sendable {
  /// The epoch of the lease that holds the partition. Only stores that have leases use the epoch.
  package var epoch: UInt64 = 0
  package var eras = Eras([])
  package var journal: [JournalEntry] = []
  package var cursor = Ordinal.zero
  package var time = Instant.zero
  package var subscriptions: [SubscriptionKey: SubscriptionRow] = [:]
  package var devices: [DeviceKey: DeviceRow] = [:]
  package var grants: [MemberRow.Key: GrantRow] = [:]
  package var revocations: [FeedKey: RevocationRow] = [:]
  package var members: [MemberRow.Key: MemberRow] = [:]
  package var remembered: [Remembered] = []
  package var outbox: [OutboxRow.Key: OutboxRow] = [:]
  package var heard: [Hearing: Position] = [:]
  package var numbers: [FeedKey: NumbersRow] = [:]
  package var fanOuts: [Ordinal: FanOut] = [:]
  package var interests: [Interest.Key: [PartitionID: Interest.Fields]] = [:]
  package var badges: [BadgeRow.Key: BadgeRow] = [:]
  /// An operator's expiries of tokens, kept for feeds that are still empty.
  var expiries: [FeedExpiry] = []
  package var isRestoreProven = false
  package var expired = Position.zero
  /// `isStopped` is true if this life has written its last cut. `wasStopped` is true if the life
  /// before this one had written its last cut.
  var isStopped = false
  var wasStopped = false
}

extension MemoryPartition {
  mutating func keep(_ expiry: FeedExpiry) {
    expiries.removeAll { expiry.of.covers($0.of) }
    expiries.append(expiry)
    guard expiries.count > FeedExpiry.keptMax else { return }
    let floor = expiries.map(\.floor).max() ?? .zero
    expiries = [FeedExpiry(of: TokenExpiry(), floor: floor)]
  }

  func floor(of feed: FeedKey) -> Position {
    expiries.filter { $0.of.means(feed) }.map(\.floor).max() ?? .zero
  }

  mutating func apply(_ cut: PartitionCut) {
    cursor = cut.cursor
    journal.removeAll { $0.ordinal <= cut.cursor }
    for key in cut.subscriptionsRemoved { subscriptions[key] = nil }
    for row in cut.subscriptions { subscriptions[row.key] = row }
    for row in cut.grants {
      let key = MemberRow.Key(scope: row.scope, zone: row.zone, participant: row.participant)
      grants[key] = row.isActive ? row : nil
    }
    for row in cut.revocations {
      let key = FeedKey(scope: row.scope, kind: .zone(row.zone))
      revocations[key] = row.last > .zero ? row : nil
    }
    for key in cut.membersRemoved { members[key] = nil }
    for row in cut.members { members[row.key] = row }
    let last = remembered.last?.ordinal ?? .zero
    remembered += cut.remembered.filter { $0.ordinal > last }
    remembered.removeAll { $0.ordinal <= cut.forgotten }
    for row in cut.outbox { outbox[row.key] = row }
    for key in cut.delivered { outbox[key] = nil }
    for row in cut.numbers {
      let key = FeedKey(scope: row.scope, kind: .zone(row.zone))
      numbers[key] = row.numbers.isEmpty ? nil : row
    }
    for item in cut.heard { heard[item.hearing] = max(heard[item.hearing] ?? .zero, item.serial) }
    isRestoreProven = cut.isRestoreProven ?? isRestoreProven
    for expiry in cut.expiries where expiry.of == TokenExpiry() { expired = expiry.floor }
    for out in cut.fanOuts { fanOuts[out.origin] = out }
    for move in cut.fanOutsMoved {
      fanOuts[move.origin]?.cursor = move.cursor
      fanOuts[move.origin]?.turn = move.turn
    }
    for origin in cut.fanOutsEnded { fanOuts[origin] = nil }
    for row in cut.interests {
      let fields = row.interest.fields
      interests[row.interest.key, default: [:]][row.source] = fields == .ended ? nil : fields
    }
    for row in cut.badges { badges[row.key] = row.count == 0 ? nil : row }
  }
}
