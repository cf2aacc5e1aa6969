extension Partition {
  /// Registers a device, renews its registration, or gives it another address.
  mutating func register(
    _ request: Registration, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    let user = users.intern(request.user, in: request.scope)
    let device: Int
    var isBack = false
    var isNew = false
    if let known = devices.find(request.client, of: user) {
      device = known
      isBack = devices[device].lane.gaveSign() || devices[device].lane.retirement != nil
      devices.register(again: device, request.address, step.ordinal, at: step.at)
    } else {
      collectRetired(of: user, step, &effects)
      isNew = true
      guard devices.all(of: user).count < limits.devicesPerUser else {
        let lapses = devices.all(of: user).compactMap { devices.addressLapses(of: $0, limits) }
          .min()
        let refusal = Refusal.tooManyDevices(
          max: limits.devicesPerUser, roomIn: lapses.map { $0 - step.at })
        return (.refused(refusal), .stepped)
      }
      device = devices.insert(
        Devices.Slot(
          user: user, client: request.client, address: request.address, registeredAt: step.at,
          registration: step.ordinal, lane: Lane(),
          account: Ledgers.Account(of: request.user)))
      devices.isBack(key(of: device))
    }
    devices[device].lane.registered(withProvider: request.address.transport != .courier)
    devices.watchAddress(of: device, limits)
    if isBack { tell(.returned, of: device, at: step.at) }
    traceRegistered(device, isNew: isNew, step)
    markDirty(device)
    effects.append(.dirtied(.devices(request.scope, request.user)))
    return (.registered(request.client), .settled)
  }

  /// Before a user's new device is registered, removes the user's registrations that lapsed or were
  /// retired at least `Limits.retiredFor` ago. Until then the relay keeps such registrations, so
  /// that the user can see the reason. If there is no room for the new device, the oldest lapsed
  /// ones and then the oldest retired ones are removed earlier.
  private mutating func collectRetired(
    of user: Int, _ step: Step, _ effects: inout [Effect]
  ) {
    let now = step.at
    let all = devices.all(of: user)
    let excess = all.count - limits.devicesPerUser + 1
    let lapsed = all.filter { devices.hasLapsed($0, at: now, limits) }
    let retired = all.filter {
      devices[$0].lane.retirement != nil && !devices.hasLapsed($0, at: now, limits)
    }
    func lived(until device: Int) -> Instant {
      devices[device].lane.retirement?.at ?? devices.addressLapses(of: device, limits) ?? .never
    }
    let oldest: (Int, Int) -> Bool = { (lived(until: $0), $0) < (lived(until: $1), $1) }
    for (index, device) in (lapsed.sorted(by: oldest) + retired.sorted(by: oldest)).enumerated()
    where index < excess || lived(until: device) + limits.retiredFor <= now {
      removeDevice(device, step, &effects)
    }
  }

  /// Removes the devices of a signed-out app. An unknown device is no error.
  mutating func unregister(
    _ request: Unregistration, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    guard let user = users.find(request.user, in: request.scope) else { return (.done, .stepped) }
    let meant = devices.all(of: user).filter { device in
      switch request.device {
      case .client(let client): devices[device].client == client
      case .token(let token): devices[device].address.token == token
      }
    }
    recall(meant, step, &effects)
    for device in meant { removeDevice(device, step, &effects) }
    effects.append(.dirtied(.devices(request.scope, request.user)))
    releaseIfUnused(user)
    return (.done, .settled)
  }

  private mutating func removeDevice(_ device: Int, _ step: Step, _ effects: inout [Effect]) {
    trace(.unregistered(step.ordinal), of: device, at: step.at)
    _ = trace.waits(device, for: nil)
    if devices[device].lane.reach.isHere { effects.append(.hangUp(key(of: device))) }
    let account = devices.account(of: device)
    devices[device].lane.dropAll(as: \.withdrawn, ledger: &ledgers[account])
    devices.remove(device, with: key(of: device))
    wakes.removed(device)
  }

  /// Another registration took over the address, so this device is not pushed to any more.
  mutating func displace(
    _ displacement: Displacement, _ step: Step, _ effects: inout [Effect]
  ) {
    guard let device = find(displacement.device),
      devices[device].registration == displacement.registration
    else { return }
    recall([device], step, &effects)
    retire(device, because: "displaced", since: nil, at: step.at, &effects)
    devices.loseAddress(of: device)
  }

  /// Retires a device, and reports that to the app's own servers. A device that is retired already
  /// keeps its time and reason, which were reported.
  ///
  /// - Parameter since: since when the address is dead, if the provider gave a date.
  mutating func retire(
    _ device: Int, because reason: String, since: Instant?, at now: Instant,
    _ effects: inout [Effect]
  ) {
    if devices[device].lane.retirement == nil {
      tell(.retired(reason: reason, since: since), of: device, at: now)
      let account = devices.account(of: device)
      devices[device].lane.retire(Retirement(at: now, reason: reason), ledger: &ledgers[account])
      trace(.retired(reason), of: device, at: now)
    }
    markDirty(device)
    let owner = users[devices[device].user]
    effects.append(.dirtied(.devices(owner.scope, owner.user)))
  }

  /// Saves and deletes subscriptions, item by item, in the order of the request.
  mutating func modify(
    _ request: SubscriptionsRequest, _ step: Step, _ effects: inout [Effect]
  ) -> (Answer, Answer.Moment) {
    let user = users.intern(request.user, in: request.scope)
    var answers: [SubscriptionAnswer] = []
    for (offset, operation) in request.operations.enumerated() {
      switch operation {
      case .save(let subscription):
        let serial = Position(step.ordinal, index: offset)
        answers.append(save(subscription, serial, of: user, step, &effects))
      case .delete(let id):
        answers.append(delete(id, request.database, of: user, step, &effects))
      }
    }
    releaseIfUnused(user)
    // If the interest has grown, the answer waits for the other partitions. Changes accepted after
    // the answer then carry the values that a new subscription reads.
    let isMore = tellInterests(step, &effects)
    return (.subscriptions(answers), isMore ? .settled : .folded)
  }

  private mutating func save(
    _ subscription: Subscription, _ serial: Position, of user: Int, _ step: Step,
    _ effects: inout [Effect]
  ) -> SubscriptionAnswer {
    let all = index.all(of: user)
    let known = index.find(subscription.id, subscription.database, of: user)
    let new = SubscriptionIndex.Held(serial: known?.serial ?? serial, subscription: subscription)
    if let twin = all.first(where: {
      $0.ruleHash == new.ruleHash && $0.subscription.id != subscription.id
        && $0.subscription.isDuplicate(of: subscription)
    }) {
      return .refused(subscription.id, .duplicateSubscription(of: twin.subscription.id))
    }
    guard known != nil || all.count < limits.subscriptionsPerUser else {
      return .refused(
        subscription.id, .tooManySubscriptions(max: limits.subscriptionsPerUser))
    }
    guard known?.subscription != subscription else { return .saved(subscription) }
    let bytes =
      index.bytes(of: user) + subscription.bytes - (known?.subscription.bytes ?? 0)
    guard bytes <= limits.subscriptionBytesPerUser else {
      return .refused(
        subscription.id, .tooManySubscriptionBytes(max: limits.subscriptionBytesPerUser))
    }
    let owner = users[user]
    if let known { interests.remove(known.subscription, in: owner.scope) }
    interests.add(subscription, in: owner.scope)
    index.save(new, of: user, owner)
    trace(saved: new, before: known, of: user, step)
    effects.append(.dirtied(.subscriptions(owner.scope, owner.user)))
    return .saved(subscription)
  }

  private mutating func delete(
    _ id: SubscriptionID, _ database: Database, of user: Int, _ step: Step,
    _ effects: inout [Effect]
  ) -> SubscriptionAnswer {
    guard let held = index.find(id, database, of: user) else {
      return .refused(id, .unknownSubscription)
    }
    removeSubscription(held, of: user, step, &effects)
    withdraw(.subscription(id, database), of: user, at: step.at)
    return .deleted(id)
  }

  mutating func removeSubscription(
    _ held: SubscriptionIndex.Held, of user: Int, _ step: Step, _ effects: inout [Effect]
  ) {
    if trace.isOn {
      trace(.unsubscribed(SubscriptionOutline(held), step.ordinal), of: user, at: step.at)
    }
    let owner = users[user]
    index.remove(held, of: user, owner)
    interests.remove(held.subscription, in: owner.scope)
    effects.append(.dirtied(.subscriptions(owner.scope, owner.user)))
  }

  /// Frees a user's number when the partition holds nothing of the user any more.
  mutating func releaseIfUnused(_ user: Int) {
    guard index.all(of: user).isEmpty, devices.all(of: user).isEmpty,
      !sharing.hasMemberships(user)
    else { return }
    dropBadges(of: user)
    users.release(user)
  }

  /// Devices whose address at the courier has lapsed are retired.
  mutating func retireLapsed(at now: Instant, _ effects: inout [Effect]) {
    while let device = devices.takeLapsed(at: now, limits) {
      retire(device, because: "lapsed", since: nil, at: now, &effects)
    }
  }
}
