/// A cut: everything a fold brings into the store, copied at one moment. A cut is written in one
/// transaction, and may be written again.
package struct Cut: Hashable, Sendable {
  /// The relay's time at the cut. The fold stores this time with each partition that it writes.
  package var at: Instant
  /// The parts of those partitions that have something to write.
  package var partitions: [PartitionCut]
  /// Whether the daemon stops with this cut. Then every decision of the daemon is in this cut or an
  /// earlier one, and the next start may rely on that.
  package var isLast = false

  package init(at: Instant, partitions: [PartitionCut]) {
    self.at = at
    self.partitions = partitions
  }

  /// The partitions that the fold writes. A cut with nothing but the time, and the last cut, are
  /// written to all owned partitions.
  package func written(of owned: [PartitionID]) -> Set<PartitionID> {
    Set(isLast || partitions.isEmpty ? owned : partitions.map(\.id))
  }
}

/// One partition's part of a cut.
package struct PartitionCut: Hashable, Sendable {
  package var id: PartitionID
  /// Every fact up to this ordinal is in this cut or an earlier one.
  package var cursor: Ordinal
  package var feeds: [FeedCut] = []
  package var subscriptions: [SubscriptionRow] = []
  package var subscriptionsRemoved: [SubscriptionKey] = []
  package var devices: [DeviceRow] = []
  package var devicesRemoved: [DeviceKey] = []
  package var grants: [GrantRow] = []
  package var revocations: [RevocationRow] = []
  package var members: [MemberRow] = []
  package var membersRemoved: [MemberRow.Key] = []
  package var remembered: [Remembered] = []
  /// The fold may delete the remembered ids of facts up to this ordinal.
  package var forgotten: Ordinal = .zero
  package var outbox: [OutboxRow] = []
  /// Outbox rows of this partition whose targets have the message in their journals.
  package var delivered: [OutboxRow.Key] = []
  /// For each track with new messages, the last message that this partition received, in order of
  /// source.
  package var heard: [Heard] = []
  /// The changed states of the producers' numbers, by zone; an empty state removes the zone's row.
  package var numbers: [NumbersRow] = []
  /// Fan-outs that began since the last cut.
  package var fanOuts: [FanOut] = []
  /// Fan-outs in the tables that have progressed.
  package var fanOutsMoved: [FanOut] = []
  /// Fan-outs that have ended; some of them may be in no table.
  package var fanOutsEnded: [Ordinal] = []
  /// Interests of other partitions in changes whose home is this partition; an interest that has
  /// `ended` removes its row.
  package var interests: [InterestRow] = []
  /// Badge counters that changed; a count of zero removes the row.
  package var badges: [BadgeRow] = []
  /// Forced expiries, which raise the floors of all feeds that they cover.
  package var expiries: [FeedExpiry] = []
  /// `true` means that a signed token proved a restore from a copy, `false` that a forced expiry
  /// has followed, and `nil` that the value has not changed.
  package var isRestoreProven: Bool?
  /// Items for the apps' own servers, in the order in which they arose.
  package var feedback: [Feedback] = []

  package init(id: PartitionID, cursor: Ordinal) {
    self.id = id
    self.cursor = cursor
  }
}

/// A forced expiry, with the position of its step. This position is the minimum floor of all feeds
/// of this partition that the expiry covers, also of empty feeds that get a row later.
package struct FeedExpiry: Hashable, Sendable {
  /// For feeds without a row, a store keeps at most this many expiries of each partition. Above
  /// this number, the store merges all of them into one expiry that covers every such feed. An
  /// expired token of an empty feed costs its client nothing.
  package static let keptMax = 1_024

  package var of: TokenExpiry
  package var floor: Position

  package init(of: TokenExpiry, floor: Position) {
    self.of = of
    self.floor = floor
  }
}

extension TokenExpiry {
  package func means(_ feed: FeedKey) -> Bool {
    container ?? feed.scope.container == feed.scope.container
      && environment ?? feed.scope.environment == feed.scope.environment
      && user ?? feed.owner == feed.owner
  }

  /// Whether this expiry covers everything that `other` covers.
  package func covers(_ other: TokenExpiry) -> Bool {
    (container == nil || container == other.container)
      && (environment == nil || environment == other.environment)
      && (user == nil || user == other.user)
  }
}

/// What a fold brings into one feed. The fold raises `cleared` and `floor` first.
package struct FeedCut: Hashable, Sendable {
  package var feed: FeedKey
  package var cleared: Position?
  package var floor: Position?
  /// Whether the feed's pages state that changes are missing; `nil` means that this is unchanged.
  package var gap: Bool?
  /// One delta for each subject, in order of the subjects' first change.
  package var deltas: [SubjectDelta] = []
  /// Read marks, which the fold applies after the deltas, in this order. Only notifications feeds
  /// have read marks.
  package var marks: [ReadMarks] = []
  /// The newest position of the deltas that the cut leaves out, because newer deltas fill the feed
  /// and the fold would remove the older entries at once. The fold raises the floor to this
  /// position last, as it does when it removes entries. Only notifications feeds have such a
  /// position.
  package var trimmed: Position?
}

package struct SubjectDelta: Hashable, Sendable {
  package var subject: Subject
  package var delta: Delta
}
