/// Names a feed: an ordered, compacted list that clients read after a token.
package struct FeedKey: Hashable, Comparable, Sendable {
  package var scope: Scope
  package var kind: Kind

  package init(scope: Scope, kind: Kind) {
    self.scope = scope
    self.kind = kind
  }

  package enum Kind: Hashable, Sendable {
    /// The notifications of a user. Each subject is a subscription with a zone or record.
    case notifications(UserID)
    /// The zones of a user's private or shared database. Each subject is a zone.
    case database(UserID, Database)
    /// The records of a zone, which is named by owner and name, for all lives of the zone. Each
    /// subject is a record.
    case zone(ZoneID)
  }

  /// The partition that keeps the feed.
  package var partition: PartitionID { .home(of: owner, in: scope) }

  /// An unambiguous spelling. Stores keep it, and a token's scope hash is computed from it.
  package var text: String {
    let kind =
      switch kind {
      case .notifications(let user): ["n", user.name]
      case .database(let user, let database): ["d", user.name, database.name]
      case .zone(let zone): ["z", zone.owner.name, zone.name]
      }
    return ([scope.container, scope.environment.name] + kind)
      .map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// The user to whom the feed belongs. A forced expiry for this user expires the feed's tokens.
  package var owner: UserID {
    switch kind {
    case .notifications(let user), .database(let user, _): user
    case .zone(let zone): zone.owner
    }
  }

  /// Whether the feed keeps only a limited number of its newest entries.
  package var isBounded: Bool {
    if case .notifications = kind { true } else { false }
  }

  package static func < (left: FeedKey, right: FeedKey) -> Bool { left.text < right.text }
}

extension Change {
  package var zoneFeed: FeedKey { FeedKey(scope: scope, kind: .zone(zone)) }
  var ownerFeed: FeedKey { FeedKey(scope: scope, kind: .database(zone.owner, .private)) }
}

/// What an entry is about. A feed has one entry for each subject.
package enum Subject: Hashable, Sendable {
  case record(String)
  case zone(ZoneID)
  case notification(SubscriptionID, zone: ZoneID, record: String?)

  package static func == (left: Subject, right: Subject) -> Bool {
    switch (left, right) {
    case (.record(let left), .record(let right)): ByteOrdered.areSame(left, right)
    case (.zone(let left), .zone(let right)): left == right
    case (.notification(let one, let zone, let record), .notification(let two, let its, let name)):
      one == two && zone == its && ByteOrdered.areSame(record, name)
    default: false
    }
  }

  /// An unambiguous spelling, unique within a feed; stores use it as a key.
  package var text: String {
    let parts =
      switch self {
      case .record(let name): ["r", name]
      case .zone(let zone): ["z", zone.owner.name, zone.name]
      case .notification(let subscription, let zone, nil):
        ["s", subscription.name, zone.owner.name, zone.name]
      case .notification(let subscription, let zone, let record?):
        ["q", subscription.name, zone.owner.name, zone.name, record]
      }
    return parts.dropLast().map { "\($0.utf8.count):\($0)" }.joined() + parts.last!
  }
}
