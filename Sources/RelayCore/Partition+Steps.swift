/// The way of a fact through the partition, and of a change into feeds and lanes.
extension Partition {
  /// Steps the next fact of the journal.
  ///
  /// - Parameters:
  ///   - at: the instant with which the fact was journalled.
  ///   - effects: the fact's effects are appended, including its answer.
  package mutating func step(
    _ fact: Fact, ordinal: Ordinal, at now: Instant, into effects: inout [Effect]
  ) {
    precondition(
      ordinal > stepped,
      "the journal's order is the order of steps: \(ordinal.number) came after \(stepped.number)")
    progress.stepped = ordinal
    work += StepCost.fact
    let place = Step(ordinal: ordinal, at: now)
    let (answer, moment) = decide(fact, place, &effects)
    tellInterests(place, &effects)
    effects.append(.answer(id, ordinal, answer, moment))
  }

  /// The place of the fact being stepped.
  struct Step {
    var ordinal: Ordinal
    var at: Instant
    /// For a hot change, the microseconds between the wakes that the change causes in this
    /// partition.
    var gap: Int64?
    /// If this fact is a message: the fact that sent the message. The answer to the request behind
    /// the sending fact may have to wait until this fact is stepped and the pushes that this fact
    /// recalls have ended.
    var cause: FactPlace?
    var position: Position { Position(ordinal) }
  }

  private mutating func decide(
    _ fact: Fact, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    switch fact {
    case .change(let change): return take(change, step, &effects)
    case .register(let registration): return register(registration, step, &effects)
    case .unregister(let request): return unregister(request, step, &effects)
    case .modify(let request):
      work += StepCost.operation * request.operations.count
      return modify(request, step, &effects)
    case .slice(let slice): go(on: slice, step, &effects)
    case .forwarded(let forwarded): hear(forwarded, step, &effects)
    case .markRead(let request):
      work += request.notifications.count
      return markRead(request, step, &effects)
    case .setBadge(let request): return setBadge(request)
    case .expireTokens(let expiry): expiries.expire(expiry, at: step.position)
    case .lostHistory(let feed, let since):
      if feed.partition == id { feeds.raiseFloor(of: feed, to: since, &effects) }
      expiries.lostHistory(since: since)
    case .tick: tick(step, &effects)
    case .forget(let ordinal): ids.forget(through: ordinal)
    }
    return (.done, .folded)
  }

  /// Steps a producer's change in the change's home partition.
  private mutating func take(
    _ change: Change, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    ids.forget(at: step.at, limits: limits)
    // A repeated change is answered as a duplicate, even if the zone has no room now for the
    // change's participant. A refused change is not remembered, so its producer may send it again.
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
      // The user is not entitled, perhaps because of an earlier revocation. The answer waits until
      // the earlier revocation holds everywhere.
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

  mutating func notifyOwner(_ change: Change, _ step: Step, _ effects: inout [Effect]) {
    guard let user = users.find(change.zone.owner, in: change.scope) else { return }
    let held = matches(change, in: .private, of: user, before: step.ordinal)
    fire(held, of: user, change, .private, zonePosition: step.position, step, &effects)
    if held.contains(where: \.subscription.firesOnce) { releaseIfUnused(user) }
  }

  /// Returns the user's subscriptions that a change fires, and adds the cost of finding them to
  /// `work`.
  mutating func matches(
    _ change: Change, in database: Database, of user: Int, before ordinal: Ordinal
  ) -> [SubscriptionIndex.Held] {
    var reading = ChangeReading(change)
    let held = index.matches(&reading, in: database, of: user, before: ordinal)
    work += reading.work + reading.read
    return held
  }

  /// Logs the notifications of one change for one user and brings them into the user's lanes, in
  /// the order the subscriptions were saved.
  ///
  /// - Parameter first: the index of the first notification among the entries of this fact in the
  ///   user's feed.
  mutating func fire(
    _ held: [SubscriptionIndex.Held], of user: Int, _ change: Change, _ database: Database,
    zonePosition: Position, first: Int = 0, _ step: Step, _ effects: inout [Effect]
  ) {
    guard !held.isEmpty else { return }
    work += held.count * StepCost.notification
    work += held.count * devices.all(of: user).count * StepCost.delivery
    let owner = users[user]
    let feed = FeedKey(scope: owner.scope, kind: .notifications(owner.user))
    let limits = limits
    // The loop goes by index: a loop over the elements would copy every subscription.
    for offset in held.indices {
      let position = Position(step.ordinal, index: first + offset)
      let look = held[offset].subscription.look(for: change, limits: limits)
      let content = NotificationContent(
        change, held[offset].subscription, database, isCut: look?.isCut ?? false, limits: limits)
      feeds.mutate(
        feed, content.subject,
        change.mutation(
          content.verb(of: change), position, .notification(content.detail), in: owner.user),
        &effects)
      let match = Match(
        content: content, position: position, zonePosition: zonePosition,
        alert: held[offset].subscription.alertKey(for: change, limits: limits),
        runsApp: held[offset].subscription.info.runsApp,
        look: look?.info, isHot: step.gap != nil, isUrgent: held[offset].subscription.isUrgent)
      if held[offset].subscription.info.badges { raiseBadges(of: user) }
      offer(match, to: user, change, step)
      // The fold that writes the notification also removes the subscription. A later save creates
      // the subscription anew.
      if held[offset].subscription.firesOnce {
        removeSubscription(held[offset], of: user, step, &effects)
      }
    }
  }

  private mutating func offer(_ match: Match, to user: Int, _ change: Change, _ step: Step) {
    let own = change.author?.user == users[user].user ? change.author?.client : nil
    let all = devices.all(of: user)
    // The rules are copied once, and not for every device.
    let (policy, limits) = (policy, limits)
    var traced: [TracedMatch.Device] = []
    if trace.isOn { traced.reserveCapacity(all.count) }
    for device in all {
      let account = devices.account(of: device)
      if let own, own == devices[device].client {
        ledgers[account].matched += 1
        ledgers[account].own += 1
        if trace.isOn { traced.append(TracedMatch.Device(client: own, outcome: .own)) }
        continue
      }
      if let gap = step.gap { giveSlot(to: device, of: change, gap: gap, at: step.at) }
      let outcome = devices[device].lane.matched(
        match, cut: progress.cut, at: step.at, policy: policy, limits: limits,
        isTraced: trace.isOn, ledger: &ledgers[account])
      if let outcome {
        traced.append(TracedMatch.Device(client: devices[device].client, outcome: outcome))
      }
      markDirty(device)
    }
    trace(match, to: user, traced, change, step)
  }
}

extension Change {
  /// Whether the change ends an entitlement. Such a change is answered only when it holds
  /// everywhere (P9).
  fileprivate var endsEntitlement: Bool {
    if case .revoked = event { return true }
    return endsZone
  }
}
