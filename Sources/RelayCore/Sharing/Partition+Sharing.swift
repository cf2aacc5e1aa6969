extension Partition {
  func isFull(_ change: Change, for user: UserID) -> Bool {
    sharing.isFull(change.zoneKey, for: user, most: limits.participantsPerZone)
  }

  /// Takes a change of a zone that is shared with users of this partition.
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
    let key = change.zoneKey
    let number = users.intern(user, in: change.scope)
    guard !sharing.isMember(number, of: key) else { return }
    sharing.join(number, user, key, at: step.position)
    trace(.joined(change.zone, step.ordinal), of: number, at: step.at)
    tell(number, change, zonePosition, step, &effects)
  }

  private mutating func leave(
    _ user: UserID, _ change: Change, _ zonePosition: Position, _ step: Step,
    _ effects: inout [Effect]
  ) {
    let key = change.zoneKey
    guard let number = users.find(user, in: change.scope),
      sharing.isMember(number, of: key)
    else { return }
    sharing.leave(number, user, key)
    trace(.left(change.zone, step.ordinal), of: number, at: step.at)
    withdraw(change.zone, .shared, of: number, step, &effects)
    tell(number, change, zonePosition, step, &effects)
    releaseIfUnused(number)
  }

  /// Ends all memberships of a zone that ends. A zone has at most `limits.participantsPerZone`
  /// memberships.
  mutating func endMemberships(
    of change: Change, _ zonePosition: Position, _ step: Step, _ effects: inout [Effect]
  ) {
    let key = change.zoneKey
    for member in sharing.takeMembers(of: key) {
      sharing.left(member.user, users[member.user].user, key)
      trace(.left(change.zone, step.ordinal), of: member.user, at: step.at)
      withdraw(change.zone, .shared, of: member.user, step, &effects)
      tell(member.user, change, zonePosition, step, &effects)
      releaseIfUnused(member.user)
    }
  }

  /// Ends a zone's life in its owner's partition: clears the zone's feed, withdraws the zone from
  /// pending wakes, notifies the owner once, and removes the owner's subscriptions to the zone and
  /// all grants of the zone.
  mutating func endZone(
    _ change: Change, as end: ZoneChange, _ step: Step, _ effects: inout [Effect]
  ) {
    guard !change.zone.isDefault else { return }
    feeds.clear(change.zoneFeed, at: step.position, &effects)
    endNumbers(of: change, step)
    feeds.mutate(
      change.ownerFeed, .zone(change.zone), change.mutation(end.feedVerb, step.position, .zone),
      &effects)
    if let user = users.find(change.zone.owner, in: change.scope) {
      withdraw(change.zone, .private, of: user, step, &effects)
      notifyOwner(change, step, &effects)
      for held in index.all(of: user) {
        guard case .zone(change.zone, _) = held.subscription.rule else { continue }
        removeSubscription(held, of: user, step, &effects)
      }
      releaseIfUnused(user)
    }
    sharing.endGrants(of: change.zoneKey)
  }

  /// Brings a change to one participant: to the participant's shared database feed and
  /// subscriptions.
  mutating func tell(
    _ user: Int, _ change: Change, _ zonePosition: Position, _ step: Step,
    _ effects: inout [Effect]
  ) {
    let feed = FeedKey(scope: change.scope, kind: .database(users[user].user, .shared))
    feeds.mutate(
      feed, .zone(change.zone),
      change.mutation(change.zoneVerb, step.position, .zone, in: users[user].user), &effects)
    let held = matches(change, in: .shared, of: user, before: step.ordinal)
    fire(held, of: user, change, .shared, zonePosition: zonePosition, step, &effects)
  }
}
