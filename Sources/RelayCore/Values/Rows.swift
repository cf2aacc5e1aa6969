package struct SubscriptionKey: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  package var database: Database
  package var id: SubscriptionID

  package init(scope: Scope, user: UserID, database: Database, id: SubscriptionID) {
    (self.scope, self.user, self.database, self.id) = (scope, user, database, id)
  }
}

package struct SubscriptionRow: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  /// The position of the subscription's first save, unique in the partition. Subscriptions fire in
  /// the order of these positions.
  package var serial: Position
  package var subscription: Subscription

  package init(scope: Scope, user: UserID, serial: Position, subscription: Subscription) {
    (self.scope, self.user, self.serial, self.subscription) = (scope, user, serial, subscription)
  }

  package var key: SubscriptionKey {
    SubscriptionKey(
      scope: scope, user: user, database: subscription.database, id: subscription.id)
  }
}

package struct DeviceKey: Hashable, Comparable, Sendable {
  package var scope: Scope
  package var user: UserID
  package var client: ClientID

  package init(scope: Scope, user: UserID, client: ClientID) {
    (self.scope, self.user, self.client) = (scope, user, client)
  }

  package static func < (left: DeviceKey, right: DeviceKey) -> Bool {
    (left.scope, left.user, left.client) < (right.scope, right.user, right.client)
  }
}

/// A registration and its lane. An address belongs to the newest registration; the fold that writes
/// the row sends `displaced` to the partition of the registration that loses the address. A row
/// with an empty token has no address, because its registration was displaced.
package struct DeviceRow: Hashable, Sendable {
  package var key: DeviceKey
  package var address: Address
  package var registeredAt: Instant
  /// The ordinal of the fact that registered this address; verdicts about an earlier address are
  /// ignored.
  package var registration: Ordinal
  package var lane: LaneRecord

  package init(
    key: DeviceKey, address: Address, registeredAt: Instant, registration: Ordinal, lane: LaneRecord
  ) {
    self.key = key
    self.address = address
    self.registeredAt = registeredAt
    self.registration = registration
    self.lane = lane
  }
}

/// A user's entitlement to a zone. The row is in the zone's home partition, so that a read of the
/// zone needs one snapshot.
package struct GrantRow: Hashable, Sendable {
  package var scope: Scope
  package var zone: ZoneID
  package var participant: UserID
  /// Whether the grant holds; `false` means that the grant has ended and that the fold removes its
  /// row.
  package var isActive: Bool
  /// The participant's tokens below this position have expired, because a grant of the zone ended
  /// at this position.
  package var floor: Position

  package init(
    scope: Scope, zone: ZoneID, participant: UserID, isActive: Bool, floor: Position
  ) {
    self.scope = scope
    self.zone = zone
    self.participant = participant
    self.isActive = isActive
    self.floor = floor
  }
}

/// The position at which a grant of a zone last ended. Earlier tokens may belong to a revoked
/// participant, so every later grant raises its participant's floor to this position. A zone has
/// one such row, which is removed at the end of the zone's life; the relay keeps nothing else of
/// revoked participants.
package struct RevocationRow: Hashable, Sendable {
  package var scope: Scope
  package var zone: ZoneID
  /// Zero removes the row.
  package var last: Position

  package init(scope: Scope, zone: ZoneID, last: Position) {
    (self.scope, self.zone, self.last) = (scope, zone, last)
  }
}

/// A participant's side of a grant, kept in the participant's partition.
package struct MemberRow: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    package var scope: Scope
    package var zone: ZoneID
    package var participant: UserID

    package init(scope: Scope, zone: ZoneID, participant: UserID) {
      (self.scope, self.zone, self.participant) = (scope, zone, participant)
    }
  }

  package var key: Key
  /// The position, in the participant's partition, of the fact that granted the zone.
  package var serial: Position

  package init(key: Key, serial: Position) {
    self.key = key
    self.serial = serial
  }
}

/// The id of one change, as a keyed hash, for the deduplication window.
package struct Remembered: Hashable, Sendable {
  package var ordinal: Ordinal
  package var at: Instant
  package var fingerprint: UInt64

  package init(ordinal: Ordinal, at: Instant, fingerprint: UInt64) {
    (self.ordinal, self.at, self.fingerprint) = (ordinal, at, fingerprint)
  }
}

/// A message to another partition, or to the same one. The row stays until the target has the
/// message in its journal.
package struct OutboxRow: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    package var target: PartitionID
    package var serial: Position

    package init(target: PartitionID, serial: Position) {
      self.target = target
      self.serial = serial
    }
  }

  package var source: PartitionID
  package var key: Key
  package var message: Forwarded.Message

  package init(source: PartitionID, key: Key, message: Forwarded.Message) {
    (self.source, self.key, self.message) = (source, key, message)
  }
}

/// A source from which a partition receives messages in order: a partition and a track.
package struct Hearing: Hashable, Comparable, Sendable {
  package var source: PartitionID
  package var track: Track

  package init(source: PartitionID, track: Track) {
    (self.source, self.track) = (source, track)
  }

  package static func < (left: Hearing, right: Hearing) -> Bool {
    (left.source, left.track) < (right.source, right.track)
  }
}

/// The last message that a partition received from another one on a track; the serial contains the
/// track.
package struct Heard: Hashable, Sendable {
  package var source: PartitionID
  package var serial: Position

  package var hearing: Hearing { Hearing(source: source, track: Track(of: serial)) }

  package init(source: PartitionID, serial: Position) {
    self.source = source
    self.serial = serial
  }
}

/// The state of the producers' numbers of one zone, in the zone's home partition.
package struct NumbersRow: Hashable, Sendable {
  package var scope: Scope
  package var zone: ZoneID
  package var numbers: SequenceTracker

  package init(scope: Scope, zone: ZoneID, numbers: SequenceTracker) {
    (self.scope, self.zone, self.numbers) = (scope, zone, numbers)
  }
}

/// A change that still has to reach users, or waits behind another change of the same subject.
package struct FanOut: Hashable, Sendable {
  package var origin: Ordinal
  package var change: Change
  /// The change's position in the feed of its zone, in the change's home partition.
  package var zonePosition: Position
  /// The change has reached all subscribers or participants up to this position.
  package var cursor: Position
  package var since: Instant
  /// For a hot change, the position of the subscriber or participant with which the fan-out began.
  /// The fan-out continues to the last one, and then from the first one up to this position, so
  /// that the users who come last are not always the same. `nil` means that the change is not
  /// smeared.
  package var turn: Position?

  package init(
    origin: Ordinal, change: Change, zonePosition: Position, cursor: Position, since: Instant
  ) {
    self.origin = origin
    self.change = change
    self.zonePosition = zonePosition
    self.cursor = cursor
    self.since = since
  }
}

/// The number on the icon of one app of a user.
package struct BadgeRow: Hashable, Sendable {
  package struct Key: Hashable, Sendable {
    package var scope: Scope
    package var user: UserID
    package var topic: String

    package init(scope: Scope, user: UserID, topic: String) {
      (self.scope, self.user, self.topic) = (scope, user, topic)
    }
  }

  package var key: Key
  package var count: Int

  package init(scope: Scope, user: UserID, topic: String, count: Int) {
    key = Key(scope: scope, user: user, topic: topic)
    self.count = count
  }
}

/// The tables from which a partition starts. The facts of the journal after `cursor` are then
/// stepped.
package struct PartitionTables: Hashable, Sendable {
  package var id: PartitionID
  package var cursor: Ordinal
  /// The relay's time at the partition's last fold; `.zero` before the first one.
  package var time = Instant.zero
  package var subscriptions: [SubscriptionRow] = []
  package var devices: [DeviceRow] = []
  package var grants: [GrantRow] = []
  package var revocations: [RevocationRow] = []
  package var members: [MemberRow] = []
  package var remembered: [Remembered] = []
  package var outbox: [OutboxRow] = []
  package var heard: [Heard] = []
  package var numbers: [NumbersRow] = []
  package var fanOuts: [FanOut] = []
  package var interests: [InterestRow] = []
  package var badges: [BadgeRow] = []
  package var isRestoreProven = false
  /// The position at which an operator last expired all tokens.
  package var expired = Position.zero
  /// Whether the last process ended with its last cut, so that nothing was done after that cut.
  package var wasStopped = false

  package init(id: PartitionID, cursor: Ordinal = .zero) {
    self.id = id
    self.cursor = cursor
  }
}
