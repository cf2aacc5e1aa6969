/// A cut of the loop: everything a fold brings into the store, copied at one moment. Written in one
/// transaction; repeatable.
package struct Cut: Hashable, Sendable {
  /// The relay's time at the cut: its durable maximum.
  package var at: Instant
  /// Only partitions with something to write.
  package var partitions: [PartitionCut]
  /// The daemon stops with it: whatever was done is in this cut or an earlier one, and the next
  /// life may rely on that.
  package var isLast = false

  package init(at: Instant, partitions: [PartitionCut]) {
    self.at = at
    self.partitions = partitions
  }
}

/// One partition's part of a cut.
package struct PartitionCut: Hashable, Sendable {
  package var id: PartitionID
  /// Every fact up to here is in this cut or an earlier one.
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
  /// Remembered facts up to here may be deleted.
  package var forgotten: Ordinal = .zero
  package var outbox: [OutboxRow] = []
  /// Outbox rows of this partition whose target has them in its journal.
  package var delivered: [OutboxRow.Key] = []
  /// What this partition heard of others, in order of source.
  package var heard: [Heard] = []
  /// Of zones whose producers number their changes; an empty one removes its row.
  package var numbers: [NumbersRow] = []
  /// Those that came since the last cut.
  package var fanOuts: [FanOut] = []
  /// Those that stand in the tables and have gone on.
  package var fanOutsMoved: [FanOutMove] = []
  /// Those that have ended; some of them may stand in no table.
  package var fanOutsEnded: [Ordinal] = []
  /// What others read of changes whose home this is; `ended` removes the row.
  package var interests: [InterestRow] = []
  /// A count of zero removes the row.
  package var badges: [BadgeRow] = []
  /// Forced expiries: floors of all feeds they mean are raised.
  package var expiries: [FeedExpiry] = []
  /// A signed token proved a restore from a copy (true), or a forced expiry made good for it
  /// (false). Nil: unchanged.
  package var isRestoreProven: Bool?
  /// For the apps' own servers, in the order it came about.
  package var feedback: [Feedback] = []

  package init(id: PartitionID, cursor: Ordinal) {
    self.id = id
    self.cursor = cursor
  }
}

/// A forced expiry, where it was stepped: the feeds of this partition that it means have at least
/// this floor, also those that hold nothing yet and get a row of their own later.
package struct FeedExpiry: Hashable, Sendable {
  /// Expiries that a store keeps of one partition for feeds without a row. Beyond, all become one
  /// that means every such feed: to expire the token of an empty feed costs its holder nothing.
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

  /// Whatever `other` means, this one does too.
  package func covers(_ other: TokenExpiry) -> Bool {
    (container == nil || container == other.container)
      && (environment == nil || environment == other.environment)
      && (user == nil || user == other.user)
  }
}

/// What a fold brings into one feed. `cleared` and `floor` are raised first.
package struct FeedCut: Hashable, Sendable {
  package var feed: FeedKey
  package var cleared: Position?
  package var floor: Position?
  /// Whether its pages say that changes are missing. Nil: unchanged.
  package var gap: Bool?
  /// One a subject, in order of the subjects' first touch.
  package var deltas: [SubjectDelta]
  /// Folded after the deltas, in their order; notifications feeds only.
  package var marks: [ReadMarks]
  /// The newest place of deltas that are left out, because so many newer ones follow that the fold
  /// would have removed their entries. The floor is raised to it after all else, as by removing
  /// them; notifications feeds only.
  package var trimmed: Position?

  package init(
    feed: FeedKey, cleared: Position? = nil, floor: Position? = nil, gap: Bool? = nil,
    deltas: [SubjectDelta] = [], marks: [ReadMarks] = [], trimmed: Position? = nil
  ) {
    self.feed = feed
    self.cleared = cleared
    self.floor = floor
    self.gap = gap
    self.deltas = deltas
    self.marks = marks
    self.trimmed = trimmed
  }
}

package struct SubjectDelta: Hashable, Sendable {
  package var subject: Subject
  package var delta: Delta

  package init(subject: Subject, delta: Delta) {
    self.subject = subject
    self.delta = delta
  }
}
