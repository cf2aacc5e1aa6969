/// How full a feed is, and which of some subjects it holds already.
///
/// What a feed holds only the store knows, and a change answered once must be taken by every
/// replay: so room is asked for before a change is journalled, and never afterwards. Requests that
/// are under way together may pass the limit by what they bring.
package struct Holdings: Hashable, Sendable {
  /// Subjects that are there; deleted ones do not count.
  package var present: Int
  package var held: Set<Subject>
  package var max: Int

  package init(present: Int, held: Set<Subject>, max: Int) {
    self.present = present
    self.held = held
    self.max = max
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
  /// How many tombstones a fold removes at most where a feed has more of them than it may have
  /// subjects: more than the fold of so many subjects adds, and not all of a long feed's at once.
  package static func tombstonesRemoved(with subjects: Int) -> Int { 2 * subjects + 100 }

  /// How many subjects may be present in a feed, and how many tombstones it keeps: beyond, the
  /// oldest go as they do when they are too old. Notifications are trimmed instead.
  package func subjectsMax(in feed: FeedKey) -> Int {
    switch feed.kind {
    case .zone: recordsPerZone
    case .database: zonesPerUser
    case .notifications: .max
    }
  }

  /// Whether one request could fill the feed.
  package func isNearlyFull(_ feed: FeedKey, present: Int) -> Bool {
    guard !feed.isBounded else { return false }
    return present >= subjectsMax(in: feed) - nearlyFull
  }
}

extension Change {
  /// The subjects that must be there, or find room, in which feeds.
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

  /// What it takes out of which feeds.
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
