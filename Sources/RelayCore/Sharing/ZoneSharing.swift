import OrderedCollections

/// Who may see a zone, and since when: zones shared by users who live in this partition, and zones
/// shared with them.
struct ZoneSharing: Sendable {
  /// A user who lives here, and since which fact the zone is shared with it.
  struct Member: Sendable {
    var serial: Position
    var user: Int
  }

  private var grants: [ZoneKey: ZoneGrants] = [:]
  private var members: [ZoneKey: [Member]] = [:]
  /// How many zones each user who lives here takes part in.
  private var memberships: [Int: Int] = [:]
  private var writtenGrants: OrderedDictionary<MemberRow.Key, GrantRow> = [:]
  private var writtenRevocations: OrderedSet<ZoneKey> = []
  private var writtenMembers: OrderedDictionary<MemberRow.Key, MemberRow?> = [:]

  var isDirty: Bool {
    !writtenGrants.isEmpty || !writtenRevocations.isEmpty || !writtenMembers.isEmpty
  }

  mutating func drain(into cut: inout PartitionCut) {
    cut.grants = writtenGrants.values.elements
    cut.revocations = writtenRevocations.map {
      RevocationRow(scope: $0.scope, zone: $0.zone, last: grants[$0]?.lastRevocation ?? .zero)
    }
    cut.members = writtenMembers.values.compactMap(\.self)
    cut.membersRemoved = writtenMembers.filter { $0.value == nil }.map(\.key)
    (writtenGrants, writtenRevocations, writtenMembers) = ([:], [], [:])
  }
}

/// Zones of users who live here.
extension ZoneSharing {
  /// Whether one more participant is too many.
  func isFull(_ zone: ZoneKey, for user: UserID, most: Int) -> Bool {
    guard let known = grants[zone] else { return false }
    return !known.participants.contains(user) && known.participants.count >= most
  }

  /// Whether anything is kept of the zone's grants.
  func knows(_ zone: ZoneKey) -> Bool { grants[zone] != nil }

  /// Where participants live, in order.
  func partitions(of zone: ZoneKey) -> [PartitionID] {
    grants[zone]?.partitions.keys.sorted() ?? []
  }

  /// Entitles a participant from here on. No token from before a revocation reads on: whether this
  /// participant was revoked then is not kept, and one who was not has no token yet.
  ///
  /// - Returns: false if it was entitled already.
  mutating func grant(_ zone: ZoneKey, to user: UserID) -> Bool {
    guard grants[zone]?.participants.contains(user) != true else { return false }
    grants[zone, default: ZoneGrants()].activate(user, in: .home(of: user, in: zone.scope))
    write(zone, user, isActive: true, floor: grants[zone]?.lastRevocation ?? .zero)
    return true
  }

  /// - Returns: false if nothing was granted.
  mutating func revoke(_ zone: ZoneKey, from user: UserID, at position: Position) -> Bool {
    guard grants[zone]?.participants.contains(user) == true else { return false }
    grants[zone]?.end(user, in: .home(of: user, in: zone.scope), at: position)
    writtenRevocations.append(zone)
    write(zone, user, isActive: false)
    return true
  }

  /// With its zone, every grant of it ends. Its feed is cleared, and with that all tokens expire:
  /// there is nothing to keep of the revocations before.
  mutating func endGrants(of zone: ZoneKey) {
    guard let known = grants.removeValue(forKey: zone) else { return }
    if known.lastRevocation > .zero { writtenRevocations.append(zone) }
    for user in known.participants.sorted() { write(zone, user, isActive: false) }
  }

  private mutating func write(
    _ zone: ZoneKey, _ user: UserID, isActive: Bool, floor: Position = .zero
  ) {
    let key = MemberRow.Key(scope: zone.scope, zone: zone.zone, participant: user)
    writtenGrants[key] = GrantRow(
      scope: zone.scope, zone: zone.zone, participant: user, isActive: isActive, floor: floor)
  }

  mutating func load(_ row: GrantRow) {
    grants[ZoneKey(scope: row.scope, zone: row.zone), default: ZoneGrants()]
      .activate(row.participant, in: .home(of: row.participant, in: row.scope))
  }

  mutating func load(_ row: RevocationRow) {
    grants[ZoneKey(scope: row.scope, zone: row.zone), default: ZoneGrants()].lastRevocation =
      row.last
  }
}

/// Zones shared with users who live here.
extension ZoneSharing {
  /// How many zones have members here.
  var sharedZones: Int { members.count }

  /// In the order in which they joined.
  func members(of zone: ZoneKey) -> [Member] { members[zone] ?? [] }

  func isMember(_ user: Int, of zone: ZoneKey) -> Bool {
    members[zone]?.contains { $0.user == user } == true
  }

  func hasMemberships(_ user: Int) -> Bool { memberships[user] != nil }

  /// - Parameter name: the user's.
  mutating func join(_ user: Int, _ name: UserID, _ zone: ZoneKey, at serial: Position) {
    load(user, zone, serial)
    let row = MemberRow.Key(scope: zone.scope, zone: zone.zone, participant: name)
    writtenMembers[row] = .some(MemberRow(key: row, serial: serial))
  }

  mutating func leave(_ user: Int, _ name: UserID, _ zone: ZoneKey) {
    members[zone]?.removeAll { $0.user == user }
    if members[zone]?.isEmpty == true { members[zone] = nil }
    left(user, name, zone)
  }

  /// All leave at once: one by one they would be looked for among all. Say `left` of each.
  mutating func takeMembers(of zone: ZoneKey) -> [Member] {
    members.removeValue(forKey: zone) ?? []
  }

  /// It is no member of the zone any more.
  mutating func left(_ user: Int, _ name: UserID, _ zone: ZoneKey) {
    let left = (memberships[user] ?? 1) - 1
    memberships[user] = left > 0 ? left : nil
    let row = MemberRow.Key(scope: zone.scope, zone: zone.zone, participant: name)
    writtenMembers[row] = .some(nil)
  }

  /// From the tables, in the order of serials: nothing is written.
  mutating func load(_ user: Int, _ zone: ZoneKey, _ serial: Position) {
    members[zone, default: []].append(Member(serial: serial, user: user))
    memberships[user, default: 0] += 1
  }
}
