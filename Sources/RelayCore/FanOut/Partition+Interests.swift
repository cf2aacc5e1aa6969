import OrderedCollections

/// Which partitions receive a change, and with which of its record's values. Public changes go to
/// partitions with a subscription to their record type. Changes of shared zones go to each
/// partition that has a participant, and carry values only if a subscription of that partition
/// reads some.
extension Partition {
  /// Sends other partitions what has changed in this partition's interests, if anything has.
  ///
  /// - Returns: whether an interest has grown. The client is then answered only when the other
  ///   partitions have received the messages.
  @discardableResult
  mutating func tellInterests(_ step: Step, _ effects: inout [Effect]) -> Bool {
    guard interests.hasNews else { return false }
    let news = interests.takeNews()
    for (home, told) in news.messages { send(.interests(told), to: home, step, &effects) }
    return news.isMore
  }

  /// The partitions to which a change's home forwards the change.
  func targets(of change: Change) -> [PartitionID] {
    guard change.database == .public else { return participants(of: change) }
    guard case .record(let record) = change.event else { return [] }
    let key = Interest.Key(scope: change.scope, database: .public, recordType: record.type)
    return interests.readers(of: key)
  }

  func participants(of change: Change) -> [PartitionID] {
    sharing.partitions(of: change.zoneKey)
  }

  /// The fields that `target` reads of the change's record.
  func fields(of change: Change, for target: PartitionID) -> Interest.Fields {
    guard case .record(let record) = change.event else { return .ended }
    let database: Database = change.database == .public ? .public : .shared
    let key = Interest.Key(
      scope: change.scope, database: database, recordType: record.type)
    return interests.fields(of: key, for: target)
  }

  /// Whether a change may concern more users of this partition than one step reaches.
  func mayFanOut(_ change: Change) -> Bool {
    guard isWide(change) else { return false }
    guard change.database == .public, case .record(let record) = change.event else { return true }
    // A change of a record with very many fields counts as wide without a look-up.
    return record.fields.count > Self.fieldsLookedUp || index.mayFire(change, moreThan: fewest)
  }

  /// Whether a change may be a wide change. The values of its record are not examined.
  func isWide(_ change: Change) -> Bool {
    switch (change.database, change.event) {
    case (.public, .record(let record)):
      let key = Interest.Key(scope: change.scope, database: .public, recordType: record.type)
      return interests.count(of: key) > fewest
    case (.public, _), (_, .granted), (_, .revoked):
      return false
    default:
      let key = change.zoneKey
      return !change.endsZone && sharing.members(of: key).count > fewest
    }
  }

  private static let fieldsLookedUp = 64

  /// The most users that a change reaches in its own step, without slices.
  @inline(__always)
  var fewest: Int { max(1, limits.fanOutSlice / 10) }
}
