import OrderedCollections

extension Partition {
  func isFull(_ change: Change, for user: UserID) -> Bool {
    guard let known = grants[ZoneKey(scope: change.scope, zone: change.zone)] else { return false }
    return !known.participants.contains(user)
      && known.participants.count >= limits.participantsPerZone
  }

  /// Entitles a participant from here on. No token from before a revocation reads on: whether this
  /// participant was revoked then is not kept, and one who was not has no token yet.
  ///
  /// - Returns: false if it was entitled already.
  mutating func grant(_ change: Change, to user: UserID, _ step: Step) -> Bool {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard grants[key]?.participants.contains(user) != true else { return false }
    grants[key, default: ZoneGrants()].activate(user, in: .home(of: user, in: change.scope))
    save(
      GrantRow(
        scope: change.scope, zone: change.zone, participant: user, isActive: true,
        floor: grants[key]?.lastRevocation ?? .zero))
    return true
  }

  /// - Returns: false if nothing was granted.
  mutating func revoke(_ change: Change, from user: UserID, _ step: Step) -> Bool {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard grants[key]?.participants.contains(user) == true else { return false }
    grants[key]?.end(user, in: .home(of: user, in: change.scope), at: step.position)
    rows.revocations.append(key)
    end(key, user)
    return true
  }

  /// With its zone, every grant of it ends. Its feed is cleared, and with that all tokens expire:
  /// there is nothing to keep of the revocations before.
  mutating func endGrants(of change: Change) {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard let known = grants.removeValue(forKey: key) else { return }
    if known.lastRevocation > .zero { rows.revocations.append(key) }
    for user in known.participants.sorted() { end(key, user) }
  }

  private mutating func end(_ zone: ZoneKey, _ user: UserID) {
    save(
      GrantRow(
        scope: zone.scope, zone: zone.zone, participant: user, isActive: false, floor: .zero))
  }

  private mutating func save(_ row: GrantRow) {
    let key = MemberRow.Key(scope: row.scope, zone: row.zone, participant: row.participant)
    rows.grants[key] = row
  }

  /// A change of a zone that is shared with users who live here.
  mutating func hearShared(
    _ change: Change, zonePosition: Position, _ step: Step, _ effects: inout [Effect]
  ) {
    switch change.event {
    case .granted(let user):
      join(user, change, zonePosition, step, &effects)
    case .revoked(let user):
      leave(user, change, zonePosition, step, &effects)
    case .record, .zone:
      fanOut(change, zonePosition: zonePosition, step, &effects)
    }
  }

  private mutating func join(
    _ user: UserID, _ change: Change, _ zonePosition: Position, _ step: Step,
    _ effects: inout [Effect]
  ) {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    let number = users.intern(user, in: change.scope)
    guard members[key]?.contains(where: { $0.user == number }) != true else { return }
    members[key, default: []].append(Member(serial: step.position, user: number))
    memberships[number, default: 0] += 1
    let row = MemberRow.Key(scope: change.scope, zone: change.zone, participant: user)
    rows.members[row] = .some(MemberRow(key: row, serial: step.position))
    tell(number, change, zonePosition, step, &effects)
  }

  private mutating func leave(
    _ user: UserID, _ change: Change, _ zonePosition: Position, _ step: Step,
    _ effects: inout [Effect]
  ) {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard let number = users.find(user, in: change.scope),
      members[key]?.contains(where: { $0.user == number }) == true
    else { return }
    removeMember(number, key)
    withdraw(change.zone, .shared, of: number, step, &effects)
    tell(number, change, zonePosition, step, &effects)
    releaseIfUnused(number)
  }

  /// With its zone, every membership in it ends, at most `limits.participantsPerZone`.
  mutating func endMemberships(
    of change: Change, _ zonePosition: Position, _ step: Step, _ effects: inout [Effect]
  ) {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    // Taken out at once: one by one they would be looked for among all.
    for member in members.removeValue(forKey: key) ?? [] {
      leave(member.user, key)
      withdraw(change.zone, .shared, of: member.user, step, &effects)
      tell(member.user, change, zonePosition, step, &effects)
      releaseIfUnused(member.user)
    }
  }

  mutating func removeMember(_ user: Int, _ key: ZoneKey) {
    members[key]?.removeAll { $0.user == user }
    if members[key]?.isEmpty == true { members[key] = nil }
    leave(user, key)
  }

  /// It is no member of the zone any more.
  private mutating func leave(_ user: Int, _ key: ZoneKey) {
    let left = (memberships[user] ?? 1) - 1
    memberships[user] = left > 0 ? left : nil
    let row = MemberRow.Key(scope: key.scope, zone: key.zone, participant: users[user].user)
    rows.members[row] = .some(nil)
  }

  /// One participant's share of a change: the shared database feed and its subscriptions.
  mutating func tell(
    _ user: Int, _ change: Change, _ zonePosition: Position, _ step: Step,
    _ effects: inout [Effect]
  ) {
    let feed = FeedKey(scope: change.scope, kind: .database(users[user].user, .shared))
    touch(
      feed, .zone(change.zone),
      change.touch(change.zoneVerb, step.position, .zone, in: users[user].user), &effects)
    let held = matches(change, in: .shared, of: user, before: step.ordinal)
    fire(held, of: user, change, .shared, zonePosition: zonePosition, step, &effects)
  }
}
