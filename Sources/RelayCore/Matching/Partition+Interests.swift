import OrderedCollections

/// Which partitions hear of a change, and with which of its record's values. Public changes go to
/// partitions with a subscription to their record type; changes of shared zones go wherever a
/// participant lives, and carry values only where a subscription reads some.
extension Partition {
  mutating func subscribed(_ subscription: Subscription, in scope: Scope) {
    guard let key = subscription.interest(in: scope) else { return }
    ownInterests[key, default: OwnInterest()].add(subscription)
    interestsChanged.append(key)
  }

  mutating func unsubscribed(_ subscription: Subscription, in scope: Scope) {
    guard let key = subscription.interest(in: scope) else { return }
    ownInterests[key]?.remove(subscription)
    interestsChanged.append(key)
  }

  /// Tells others what changed of this partition's interests, if anything did.
  ///
  /// - Returns: whether something was added: who asked for it is answered when others know.
  @discardableResult
  mutating func tellInterests(_ step: Step, _ effects: inout [Effect]) -> Bool {
    guard !interestsChanged.isEmpty else { return false }
    let keys = interestsChanged
    interestsChanged = []
    var isMore = false
    var news: OrderedDictionary<PartitionID, [Interest]> = [:]
    for key in keys.sorted() {
      guard let own = ownInterests[key] else { continue }
      let fields = own.fields
      if fields != own.told {
        if !own.told.covers(fields) { isMore = true }
        ownInterests[key]?.told = fields
        for home in Self.homes(of: key) {
          news[home, default: []].append(Interest(key: key, fields: fields))
        }
      }
      if own.count == 0 { ownInterests[key] = nil }
    }
    for (home, interests) in news { send(.interests(interests), to: home, step, &effects) }
    return isMore
  }

  /// The partitions where such changes come in: one for a public database; any for shared zones.
  private static func homes(of key: Interest.Key) -> [PartitionID] {
    guard key.database == .public else { return PartitionID.all }
    return [.home(of: ZoneID.publicDefault.owner, in: key.scope)]
  }

  mutating func hear(_ told: [Interest], from source: PartitionID) {
    for interest in told {
      interests[interest.key, default: [:]][source] =
        interest.fields == .ended ? nil : interest.fields
      if interests[interest.key]?.isEmpty == true { interests[interest.key] = nil }
      rows.interests[InterestPlace(key: interest.key, source: source)] = interest.fields
    }
  }

  /// Where a change goes from its home.
  func targets(of change: Change) -> [PartitionID] {
    guard change.database == .public else { return participants(of: change) }
    guard case .record(let record) = change.event else { return [] }
    let key = Interest.Key(scope: change.scope, database: .public, recordType: record.type)
    return interests[key]?.keys.sorted() ?? []
  }

  /// What `target` reads of such a record.
  func fields(of change: Change, for target: PartitionID) -> Interest.Fields {
    guard case .record(let record) = change.event else { return .ended }
    let database: Database = change.database == .public ? .public : .shared
    let key = Interest.Key(
      scope: change.scope, database: database, recordType: record.type)
    return interests[key]?[target] ?? .ended
  }

  /// Whether a change may concern more users here than are told at once.
  func mayFanOut(_ change: Change) -> Bool {
    guard isWide(change) else { return false }
    guard change.database == .public, case .record(let record) = change.event else { return true }
    // A record of very many fields is not looked up in vain: it is taken for a wide one.
    return record.fields.count > Self.fieldsLookedUp || index.mayFire(change, moreThan: fewest)
  }

  /// The same, as far as it does not depend on a record's values.
  func isWide(_ change: Change) -> Bool {
    switch (change.database, change.event) {
    case (.public, .record(let record)):
      let key = Interest.Key(scope: change.scope, database: .public, recordType: record.type)
      return ownInterests[key].map { $0.count > fewest } ?? false
    case (.public, _), (_, .granted), (_, .revoked):
      return false
    default:
      let key = ZoneKey(scope: change.scope, zone: change.zone)
      return !change.endsZone && members[key].map { $0.count > fewest } ?? false
    }
  }

  private static let fieldsLookedUp = 64

  /// Users that are told at once.
  @inline(__always)
  var fewest: Int { max(1, limits.fanOutSlice / 10) }
}

/// An interest's row in its home.
struct InterestPlace: Hashable, Sendable {
  var key: Interest.Key
  var source: PartitionID
}
