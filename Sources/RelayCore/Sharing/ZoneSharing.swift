import OrderedCollections

/// Which users may see a zone, and since when. The value holds the zones that users of this
/// partition share with others, and the zones that others share with users of this partition.
struct ZoneSharing: Sendable {
  /// A user of this partition, and the position of the fact since which the zone is shared with the
  /// user.
  struct Member: Sendable {
    var serial: Position
    var user: Int
  }

  private var grants: [ZoneKey: ZoneGrants] = [:]
  private var members: [ZoneKey: [Member]] = [:]
  /// How many zones are shared with each user of this partition.
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

/// Zones that users of this partition own.
extension ZoneSharing {
  /// Whether the zone has `most` participants already and the user is not one of them.
  func isFull(_ zone: ZoneKey, for user: UserID, most: Int) -> Bool {
    guard let known = grants[zone] else { return false }
    return !known.participants.contains(user) && known.participants.count >= most
  }

  /// Whether grants of the zone, or its last revocation, are kept.
  func knows(_ zone: ZoneKey) -> Bool { grants[zone] != nil }

  /// The partitions that have participants of the zone, in order.
  func partitions(of zone: ZoneKey) -> [PartitionID] {
    grants[zone]?.partitions.keys.sorted() ?? []
  }

  /// Entitles a participant from now on. Tokens from before the zone's last revocation expire for
  /// this participant. The relay does not keep which participants were revoked. A participant that
  /// was never revoked has no such token.
  ///
  /// - Returns: false if the participant was entitled already.
  mutating func grant(_ zone: ZoneKey, to user: UserID) -> Bool {
    guard grants[zone]?.participants.contains(user) != true else { return false }
    grants[zone, default: ZoneGrants()].activate(user, in: .home(of: user, in: zone.scope))
    write(zone, user, isActive: true, floor: grants[zone]?.lastRevocation ?? .zero)
    return true
  }

  /// - Returns: false if the user was not entitled.
  mutating func revoke(_ zone: ZoneKey, from user: UserID, at position: Position) -> Bool {
    guard grants[zone]?.participants.contains(user) == true else { return false }
    grants[zone]?.end(user, in: .home(of: user, in: zone.scope), at: position)
    writtenRevocations.append(zone)
    write(zone, user, isActive: false)
    return true
  }

  /// The zone has ended, and every grant of it ends too. The zone's feed is cleared, so all tokens
  /// expire, and no earlier revocation needs to be kept.
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

/// Zones that are shared with users of this partition.
extension ZoneSharing {
  /// How many zones have members in this partition.
  var sharedZones: Int { members.count }

  /// The zone's members, in the order in which they joined.
  func members(of zone: ZoneKey) -> [Member] { members[zone] ?? [] }

  func isMember(_ user: Int, of zone: ZoneKey) -> Bool {
    members[zone]?.contains { $0.user == user } == true
  }

  func hasMemberships(_ user: Int) -> Bool { memberships[user] != nil }

  /// - Parameter name: the user's record name.
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

  /// Removes and returns all members at once, because each single removal would search the list.
  /// The caller then calls `left` for each member.
  mutating func takeMembers(of zone: ZoneKey) -> [Member] {
    members.removeValue(forKey: zone) ?? []
  }

  /// Records that the user is no longer a member of the zone.
  mutating func left(_ user: Int, _ name: UserID, _ zone: ZoneKey) {
    let left = (memberships[user] ?? 1) - 1
    memberships[user] = left > 0 ? left : nil
    let row = MemberRow.Key(scope: zone.scope, zone: zone.zone, participant: name)
    writtenMembers[row] = .some(nil)
  }

  /// Takes over a row of the tables, without marking it for the next cut. The caller takes the rows
  /// in the order of their serials.
  mutating func load(_ user: Int, _ zone: ZoneKey, _ serial: Position) {
    members[zone, default: []].append(Member(serial: serial, user: user))
    memberships[user, default: 0] += 1
  }
}
