extension Partition {
  /// Steps a producer's change in the change's home partition.
  mutating func take(
    _ change: Change, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    ids.forget(at: step.at, limits: limits)
    // A repeated change is answered as a duplicate, even if the zone has no room for its
    // participant now. A refused change is not remembered, so its producer may send it again.
    if case .granted(let user) = change.event, !ids.contains(change.fingerprint),
      isFull(change, for: user)
    {
      return (.refused(.tooManyParticipants(max: limits.participantsPerZone)), .stepped)
    }
    let item = Remembered(ordinal: step.ordinal, at: step.at, fingerprint: change.fingerprint)
    guard ids.remember(item) else {
      return (.duplicate, change.endsEntitlement ? .caughtUp : .stepped)
    }
    let applies = hear(numberOf: change, step, &effects)
    traceTaken(change, applies: applies, step)
    guard applies else { return (.accepted, .stepped) }
    if change.database == .public {
      forward(change, to: targets(of: change), step, &effects)
      return (.accepted, .stepped)
    }
    switch change.event {
    case .granted(change.zone.owner), .revoked(change.zone.owner):
      // The owner is entitled already. As a participant, the owner would be notified of each change
      // twice.
      return (.accepted, .stepped)
    case .record, .zone(.created):
      note(change, step, &effects)
      notifyOwner(change, step, &effects)
      forward(change, to: participants(of: change), step, &effects)
      return (.accepted, .stepped)
    case .zone(let end):
      let concerned = participants(of: change)
      endZone(change, as: end, step, &effects)
      forward(change, to: concerned, step, &effects)
      // Messages that end earlier grants may not have reached the former participants' partitions
      // yet.
      return (.accepted, .caughtUp)
    case .granted(let user):
      if sharing.grant(change.zoneKey, to: user), !change.zone.isDefault {
        // A grant proves that its zone exists, so an unknown or ended zone begins a new life.
        feeds.mutate(
          change.ownerFeed, .zone(change.zone), change.mutation(.updated, step.position, .zone),
          &effects)
        effects.append(.dirtied(.feed(change.zoneFeed)))
      }
      forward(change, to: [.home(of: user, in: change.scope)], step, &effects)
      return (.accepted, .settled)
    case .revoked(let user):
      // The entitlement is revoked already. The answer waits until that revocation holds
      // everywhere.
      guard sharing.revoke(change.zoneKey, from: user, at: step.position) else {
        return (.accepted, .caughtUp)
      }
      effects.append(.dirtied(.feed(change.zoneFeed)))
      forward(change, to: [.home(of: user, in: change.scope)], step, &effects)
      return (.accepted, .settled)
    }
  }

  /// Brings a change into the feed of its zone and into the database feed of the zone's owner. The
  /// default zone is in neither feed.
  private mutating func note(_ change: Change, _ step: Step, _ effects: inout [Effect]) {
    guard !change.zone.isDefault else { return }
    if case .record(let record) = change.event {
      feeds.mutate(
        change.zoneFeed, .record(record.name),
        change.mutation(of: record, step.position, at: step.at),
        &effects)
    } else {
      // A client that reads the new zone from now on must find the zone, so the read waits for the
      // fold.
      effects.append(.dirtied(.feed(change.zoneFeed)))
    }
    feeds.mutate(
      change.ownerFeed, .zone(change.zone),
      change.mutation(change.zoneVerb, step.position, .zone), &effects)
  }

  private mutating func notifyOwner(_ change: Change, _ step: Step, _ effects: inout [Effect]) {
    guard let user = users.find(change.zone.owner, in: change.scope) else { return }
    let held = matches(change, in: .private, of: user, before: step.ordinal)
    fire(held, of: user, change, .private, zonePosition: step.position, step, &effects)
    if held.contains(where: \.subscription.firesOnce) { releaseIfUnused(user) }
  }

  /// Ends a zone's life in its owner's partition: clears the zone's feed, withdraws the zone from
  /// pending wakes, notifies the owner once, and removes the owner's subscriptions to the zone and
  /// all grants of the zone.
  private mutating func endZone(
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
}

extension Change {
  /// Whether the change ends an entitlement. Such a change is answered only when it holds
  /// everywhere (P9).
  fileprivate var endsEntitlement: Bool {
    if case .revoked = event { return true }
    return endsZone
  }

  /// - Parameter owner: the feed's owner; `nil` means the zone's owner.
  func mutation(
    _ verb: FeedMutation.Verb, _ position: Position, _ detail: Detail, in owner: UserID? = nil
  ) -> FeedMutation {
    FeedMutation(
      verb: verb, position: position, device: device(in: owner ?? zone.owner), sequence: sequence,
      time: time, detail: detail)
  }

  /// - Parameter accepted: the time that feeds show if the producer sent none.
  fileprivate func mutation(
    of record: RecordChange, _ position: Position, at accepted: Instant
  ) -> FeedMutation {
    let detail = Detail.record(type: record.type, tag: record.tag, author: shownAuthor)
    var mutation = mutation(record.verb.feedVerb, position, detail)
    mutation.time = record.modified ?? accepted
    return mutation
  }

  /// The author that feeds show. It is `nil` if the author is the zone's owner, who makes nearly
  /// all changes, or if no client of the author is known, so that most entries need not keep a
  /// name.
  private var shownAuthor: UserID? {
    guard let author, author.client != nil, author.user != zone.owner else { return nil }
    return author.user
  }

  /// The verb that the entry of the change's zone gets from the change.
  var zoneVerb: FeedMutation.Verb {
    switch event {
    case .record: .updated
    case .zone(let change): change.feedVerb
    case .granted: .created
    case .revoked: .deleted
    }
  }
}

extension ZoneChange {
  var feedVerb: FeedMutation.Verb {
    switch self {
    case .created: .created
    case .deleted: .deleted
    case .purged: .purged
    case .reset: .reset
    }
  }
}

extension RecordChange.Verb {
  var feedVerb: FeedMutation.Verb {
    switch self {
    case .created: .created
    case .updated: .updated
    case .deleted: .deleted
    }
  }
}
