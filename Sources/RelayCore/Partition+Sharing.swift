import OrderedCollections

extension Partition {
  func isFull(_ change: Change, for user: UserID) -> Bool {
    guard let known = grants[ZoneKey(scope: change.scope, zone: change.zone)] else { return false }
    return known.participants[user] != true && known.activeCount >= limits.participantsPerZone
  }

  /// Entitles a participant from here on. A regrant raises the participant's floor, so that no
  /// token from before the revocation reads on.
  ///
  /// - Returns: false if it was entitled already.
  mutating func grant(_ change: Change, to user: UserID, _ step: Step) -> Bool {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    let before = grants[key]?.participants[user]
    guard before != true else { return false }
    grants[key, default: ZoneGrants()].activate(user, in: .home(of: user, in: change.scope))
    save(
      GrantRow(
        scope: change.scope, zone: change.zone, participant: user, isActive: true,
        floor: before == nil ? .zero : step.position))
    return true
  }

  /// - Returns: false if nothing was granted.
  mutating func revoke(_ change: Change, from user: UserID) -> Bool {
    let key = ZoneKey(scope: change.scope, zone: change.zone)
    guard grants[key]?.participants[user] == true else { return false }
    grants[key]?.end(user, in: .home(of: user, in: change.scope))
    save(
      GrantRow(
        scope: change.scope, zone: change.zone, participant: user, isActive: false, floor: .zero))
    return true
  }

  /// With its zone, every grant of it ends.
  mutating func endGrants(of change: Change) {
    let known = grants[ZoneKey(scope: change.scope, zone: change.zone)]?.participants ?? [:]
    for (user, isActive) in known where isActive { _ = revoke(change, from: user) }
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
    for member in members[key] ?? [] {
      removeMember(member.user, key)
      withdraw(change.zone, .shared, of: member.user, step, &effects)
      tell(member.user, change, zonePosition, step, &effects)
      releaseIfUnused(member.user)
    }
  }

  mutating func removeMember(_ user: Int, _ key: ZoneKey) {
    members[key]?.removeAll { $0.user == user }
    if members[key]?.isEmpty == true { members[key] = nil }
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
      feed, .zone(change.zone), change.touch(change.zoneVerb, step.position, .zone), &effects)
    let held = index.matches(change, in: .shared, of: user, before: step.ordinal)
    fire(held, of: user, change, .shared, zonePosition: zonePosition, step, &effects)
  }
}
