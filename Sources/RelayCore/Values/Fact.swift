/// Anything that changes the relay's state, as the journal keeps it. The core only receives facts
/// that are already durable; random values and clock readings are part of the fact.
///
/// `Fact` and `Effect` together give an overview of the core.
package enum Fact: Hashable, Sendable {
  /// A producer's change, in the change's home partition.
  case change(Change)
  case register(Registration)
  case unregister(Unregistration)
  case modify(SubscriptionsRequest)
  /// The next part of a change that concerns more users than one step reaches.
  case slice(Slice)
  /// A message from another partition of this store, or from the partition itself.
  case forwarded(Forwarded)
  case markRead(ReadRequest)
  case setBadge(BadgeRequest)
  case expireTokens(TokenExpiry)
  /// A signed token proved that this store has lost history, because it was restored from a copy.
  /// The feed's floor rises to `since`, where the history begins that replaced the lost one.
  case lostHistory(FeedKey, since: Position)
  /// The partition must check which zones have numbers that have been missing for too long, so that
  /// feeds show the gap.
  case tick
  /// The ids of changes up to this ordinal are forgotten, because there are too many ids or they
  /// are too old.
  case forget(through: Ordinal)
}

package struct Registration: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  package var client: ClientID
  package var address: Address

  package init(scope: Scope, user: UserID, client: ClientID, address: Address) {
    (self.scope, self.user, self.client, self.address) = (scope, user, client, address)
  }
}

package struct Unregistration: Hashable, Sendable {
  package enum Device: Hashable, Sendable {
    case client(ClientID)
    case token([UInt8])
  }

  package var scope: Scope
  package var user: UserID
  package var device: Device

  package init(scope: Scope, user: UserID, device: Device) {
    (self.scope, self.user, self.device) = (scope, user, device)
  }
}

package struct SubscriptionsRequest: Hashable, Sendable {
  package enum Operation: Hashable, Sendable {
    case save(Subscription)
    case delete(SubscriptionID)
  }

  package var scope: Scope
  package var user: UserID
  package var database: Database
  package var operations: [Operation]

  package init(scope: Scope, user: UserID, database: Database, operations: [Operation]) {
    (self.scope, self.user, self.database, self.operations) = (scope, user, database, operations)
  }
}

/// Notifications that a user has read, by their ids.
package struct ReadRequest: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  /// The device that sent the request; `nil` if the device did not identify itself.
  package var client: ClientID?
  /// The ids of the notifications, at most 200.
  package var notifications: [Identifier]

  package init(scope: Scope, user: UserID, client: ClientID?, notifications: [Identifier]) {
    (self.scope, self.user, self.client, self.notifications) = (scope, user, client, notifications)
  }
}

/// Sets a user's badge counter.
package struct BadgeRequest: Hashable, Sendable {
  package var scope: Scope
  package var user: UserID
  /// The app's topic; `nil` means every topic of the user's devices.
  package var topic: String?
  package var badge: Int

  package init(scope: Scope, user: UserID, topic: String?, badge: Int) {
    (self.scope, self.user, self.topic, self.badge) = (scope, user, topic, badge)
  }
}

/// A part of a fan-out: the subscribers or participants after `cursor`, for the change that was
/// stepped at `origin`.
package struct Slice: Hashable, Sendable {
  package var origin: Ordinal
  package var cursor: Position

  package init(origin: Ordinal, cursor: Position) {
    self.origin = origin
    self.cursor = cursor
  }
}

/// A message from one partition to another, or to itself. The target drops repeats: for each source
/// and track the target keeps the highest `serial` received.
package struct Forwarded: Hashable, Sendable {
  package var source: PartitionID
  package var serial: Position
  package var message: Message

  package init(source: PartitionID, serial: Position, message: Message) {
    (self.source, self.serial, self.message) = (source, serial, message)
  }

  package enum Message: Hashable, Sendable {
    /// A change that concerns participants or public subscribers in the target, and the change's
    /// position in the feed of its zone.
    case change(Change, at: Position)
    /// A later registration took over the address of another one.
    case displaced(Displacement)
    /// The sender's interests that have changed: which fields of a record type the sender's
    /// subscriptions read.
    case interests([Interest])
  }
}

/// A device that lost the address of this registration. A later registration of the device is not
/// affected; if the later registration loses its address too, another message reports that.
package struct Displacement: Hashable, Sendable {
  package var device: DeviceKey
  package var registration: Ordinal

  package init(device: DeviceKey, registration: Ordinal) {
    self.device = device
    self.registration = registration
  }
}

/// A forced expiry of tokens, after a restore or for a test of clients. A field that is `nil`
/// stands for all values.
package struct TokenExpiry: Hashable, Sendable {
  package var container: String?
  package var environment: Environment?
  package var user: UserID?

  package init(container: String? = nil, environment: Environment? = nil, user: UserID? = nil) {
    (self.container, self.environment, self.user) = (container, environment, user)
  }
}
