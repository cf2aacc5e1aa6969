/// How many subjects a feed has, and which of some given subjects are in the feed.
///
/// Only the store has the entries of a feed, and every replay must accept a change that was
/// answered as accepted. So the limit is checked before a change is journalled, and never
/// afterwards. Concurrent requests may together exceed the limit by what they add.
package struct Holdings: Hashable, Sendable {
  /// How many subjects are present in the feed. Deleted subjects do not count.
  package var present: Int
  package var held: Set<Subject>
  package var max: Int

  package init(present: Int, held: Set<Subject>, max: Int) {
    (self.present, self.held, self.max) = (present, held, max)
  }

  package func hasRoom(for subject: Subject) -> Bool { held.contains(subject) || present < max }

  package mutating func add(_ subject: Subject) {
    if held.insert(subject).inserted { present += 1 }
  }

  package mutating func remove(_ subject: Subject) {
    if held.remove(subject) != nil { present -= 1 }
  }

  package mutating func removeAll() { (present, held) = (0, []) }
}

extension Limits {
  /// The most tombstones that one fold of `subjects` subjects removes from a feed with more
  /// tombstones than its limit. The fold may remove more tombstones than it adds, but cannot remove
  /// all tombstones of a long feed at once.
  package static func tombstonesRemoved(with subjects: Int) -> Int { 2 * subjects + 100 }

  /// How many subjects may be present in a feed, and how many tombstones the feed keeps. The oldest
  /// tombstones above that number are removed as if they were too old. A feed of notifications has
  /// no such limit, because it is trimmed instead.
  package func subjectsMax(in feed: FeedKey) -> Int {
    switch feed.kind {
    case .zone: recordsPerZone
    case .database: zonesPerUser
    case .notifications: .max
    }
  }

  /// Whether a single request could fill the feed.
  package func isNearlyFull(_ feed: FeedKey, present: Int) -> Bool {
    guard !feed.isBounded else { return false }
    return present >= subjectsMax(in: feed) - nearlyFull
  }
}

extension Change {
  /// The subjects that this change needs in feeds, each with its feed. The feed must have the
  /// subject already, or must have room for it.
  package var places: [(feed: FeedKey, subject: Subject)] {
    guard database != .public, !zone.isDefault else { return [] }
    let own = (feed: ownerFeed, subject: Subject.zone(zone))
    switch event {
    case .record(let record) where record.verb != .deleted:
      return [own, (zoneFeed, .record(record.name))]
    case .record, .zone(.created): return [own]
    case .granted(let user) where user != zone.owner:
      let shared = FeedKey(scope: scope, kind: .database(user, .shared))
      return [own, (shared, .zone(zone))]
    case .granted, .revoked, .zone: return []
    }
  }

  /// The subjects, each with its feed, that the change removes.
  package var removed: [(feed: FeedKey, subject: Subject)] {
    switch event {
    case .record(let record) where record.verb == .deleted:
      [(zoneFeed, .record(record.name))]
    case .revoked(let user):
      [(FeedKey(scope: scope, kind: .database(user, .shared)), .zone(zone))]
    case .zone where endsZone: [(ownerFeed, .zone(zone))]
    case .record, .granted, .zone: []
    }
  }
}
