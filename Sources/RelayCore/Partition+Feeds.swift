extension Partition {
  /// A user's own subscriptions that a change fires; adds the cost of finding them to `work`.
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
    for (offset, held) in held.enumerated() {
      let position = Position(step.ordinal, index: first + offset)
      let look = held.subscription.look(for: change, limits: limits)
      let content = NotificationContent(
        change, held.subscription, database, isCut: look?.isCut ?? false, limits: limits)
      feeds.mutate(
        feed, content.subject,
        change.mutation(
          content.verb(of: change), position, .notification(content.detail), in: owner.user),
        &effects)
      let match = Match(
        content: content, position: position, zonePosition: zonePosition,
        alert: held.subscription.alertKey(for: change, limits: limits),
        runsApp: held.subscription.info.runsApp,
        look: look?.info, isHot: step.gap != nil, isUrgent: held.subscription.isUrgent)
      if held.subscription.info.badges { raiseBadges(of: user) }
      offer(match, to: user, change, step)
      // The fold that writes the notification also removes the subscription. A later save creates
      // the subscription anew.
      if held.subscription.firesOnce { removeSubscription(held, of: user, step, &effects) }
    }
  }

  private mutating func offer(_ match: Match, to user: Int, _ change: Change, _ step: Step) {
    let own = change.author?.user == users[user].user ? change.author?.client : nil
    var traced: [TracedMatch.Device] = []
    for device in devices.all(of: user) {
      let account = devices.account(of: device)
      if let own, own == devices[device].client {
        ledgers[account].matched += 1
        ledgers[account].own += 1
        if trace.isOn { traced.append(TracedMatch.Device(client: own, .own)) }
        continue
      }
      if let gap = step.gap { giveSlot(to: device, of: change, gap: gap, at: step.at) }
      let instead = instead(of: match, on: device)
      devices[device].lane.matched(
        match, cut: progress.cut, at: step.at, policy: policy, limits: limits,
        ledger: &ledgers[account])
      if trace.isOn { traced.append(self.traced(match, on: device, instead: instead)) }
      markDirty(device)
    }
    trace(match, to: user, traced, change, step)
  }
}

extension Subscription {
  /// Whether the first change that fires the subscription also removes it.
  package var firesOnce: Bool {
    if case .query(let rule) = rule { return rule.firesOnce }
    return false
  }
}

extension NotificationContent {
  /// The content of a subscription's notification of a change.
  init(
    _ change: Change, _ subscription: Subscription, _ database: Database, isCut: Bool,
    limits: Limits
  ) {
    self.init(
      subscription: subscription.id, notification: change.notification, database: database,
      zone: change.zone, kind: .zone)
    switch subscription.rule {
    case .zone: kind = .zone
    case .database: kind = .database
    case .query:
      guard case .record(let record) = change.event else { return }
      let shown = subscription.info.values(of: record, limits: limits)
      kind = .query(
        record: record.name, reason: record.verb, values: shown.values,
        isCut: isCut || shown.isCut)
    }
  }

  var subject: Subject {
    if case .query(let record, _, _, _) = kind {
      return .notification(subscription, zone: zone, record: record)
    }
    return .notification(subscription, zone: zone, record: nil)
  }

  var detail: NotificationDetail {
    let kind: NotificationDetail.Kind =
      switch self.kind {
      case .query: .query
      case .zone: .zone
      case .database: .database
      }
    return NotificationDetail(kind: kind, database: database, notification: notification)
  }

  /// The verb of the notification's entry: the record's verb for a query subscription, and the
  /// zone's verb for a zone or database subscription.
  func verb(of change: Change) -> FeedMutation.Verb {
    if case .query(_, let reason, _, _) = kind { return reason.feedVerb }
    return change.zoneVerb
  }
}

extension Subscription {
  /// The key of the change's visible alert; a pending alert with the same key is replaced. `nil`
  /// means that the subscription shows no alert, so its notifications wake the app in the
  /// background.
  func alertKey(for change: Change, limits: Limits) -> AlertKey? {
    guard info.isVisible else { return nil }
    var subject = change.zone.owner.name + "/" + change.zone.name
    var collapse: String?
    if case .record(let record) = change.event, case .query = rule {
      subject += "/" + record.name
      if let key = info.collapseKey,
        case .string(let value)? = record.value(of: key)
      {
        // Each pending alert keeps this value. Of a long value the beginning is enough to tell
        // alerts apart.
        let start =
          value.utf8.count <= limits.valueBytesPerNotification
          ? value
          : String(decoding: value.utf8.prefix(limits.valueBytesPerNotification), as: UTF8.self)
        collapse = start
        subject = start
      }
    }
    return AlertKey(
      subscription: id, database: database, subject: subject, collapse: collapse)
  }
}
