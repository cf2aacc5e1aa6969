import RelayCore
import RelayMemory

/// The checks that run at every push, page, fold and step.
extension World {
  func check(_ attempt: PushAttempt, _ text: PushText) throws {
    let key = attempt.device
    try demand(
      .everythingIsBounded, attempt.payload.count <= plan.limits.payloadBytes,
      "a payload of \(attempt.payload.count) bytes")
    try demand(
      .oneAttemptAtATime, observer.inFlight[key] == nil, "two attempts in flight for \(key.line)")
    let isOverCourier = attempt.route.transport == .courier
    if !isOverCourier { try checkAddress(attempt.address, key) }
    try demand(
      .oneAttemptAtATime, !observer.hasShown(attempt, text), "\(key.line) is shown an alert again")
    observer.began(attempt, text, at: now)
    if !isOverCourier { try checkBudget(key, attempt.intent) }
    if let nid = text.notification, let identifier = Identifier(text: nid) {
      try demand(
        .noDeviceIsWokenByItself,
        model.authors[identifier] != Change.Author(user: key.user, client: key.client),
        "\(key.line) is woken by its own change \(nid)")
    }
    try checkEnds(text, key)
    try checkNamed(attempt, text)
    try checkDurable(text, key)
    try checkSlot(text, key)
  }

  /// Checks that a push goes to the device's own address and, once a push has found the device, to
  /// the environment where the device was found.
  private func checkAddress(_ address: Address, _ key: DeviceKey) throws {
    try demand(
      .everyDeviceIsWoken, address.transport != .courier,
      "\(key.line) has only the courier, and is pushed to")
    let owner = observer.owners[address.place] ?? key
    try demand(
      .onlyTheEntitledSee, owner == key, "\(key.line) is pushed to \(owner.line)'s address")
    guard observer.found.contains(key), let token = address.token.first else { return }
    try demand(
      .everyDeviceIsWoken, address.environment == World.home(of: token),
      "\(key.line) was found, and is looked for elsewhere")
  }

  /// P9: no push names a zone to a user whose entitlement has ended.
  func checkEnds(_ text: PushText, _ key: DeviceKey) throws {
    // A subscription to the whole shared database tells its user that a share has ended, so its
    // push may name the zone. No other push may.
    let hearsOfEnds = model.subscriptions[key.user, default: []].contains {
      $0.subscription.rule == .database(recordType: nil) && $0.subscription.database == .shared
    }
    for ref in text.zones + [text.shown].compactMap(\.self) {
      let isRevoked = observer.answered.ended.contains(
        WorldObserver.Share(zone: ref.zone, user: key.user))
      let isOfTheEnd = hearsOfEnds && (ref != text.shown || text.record == nil)
      try demand(
        .onlyTheEntitledSee, ref.database != .shared || !isRevoked || isOfTheEnd,
        "a push to \(key.line) names \(ref.zone) after the end of its share")
    }
  }

  /// P5: an alert names the subject that it shows, or the device was told of that subject before.
  private func checkNamed(_ attempt: PushAttempt, _ text: PushText) throws {
    guard attempt.intent == .alert, let shown = text.shown, !text.isMore,
      !observer.acknowledging.contains(attempt.device)
    else { return }
    let told = observer.told[attempt.device]
    let isNamed =
      text.record == nil
      ? text.zones.contains(shown) || told?.zones[shown] != nil
      : text.hasQuery || told?.query ?? .zero > .zero
    try demand(
      .everyDeviceIsWoken, isNamed,
      "\(attempt.device.line) is shown an alert of \(shown), not named")
  }

  /// P5: no device is told to wait longer than the longest smear or until a time that has passed,
  /// and a device that must wait is told until when.
  private func checkSlot(_ text: PushText, _ key: DeviceKey) throws {
    guard let seconds = text.notBefore else {
      return try demand(
        .everyDeviceIsWoken, text.waiting.isEmpty, "\(key.line) is to wait and not told until when")
    }
    outcome.counts[.waits] += 1
    let notBefore = Instant(milliseconds: seconds * 1_000)
    let now = moment.wall
    let longest = plan.policy.smearing.longest + .seconds(1)
    try demand(
      .everyDeviceIsWoken, (now...now + longest).contains(notBefore),
      "\(key.line) is told to wait until \(seconds)")
  }

  private func checkBudget(_ key: DeviceKey, _ intent: Push.Intent) throws {
    let background = Budget.Rule(
      max: plan.policy.backgroundMost, per: plan.policy.background.per)
    let rule = intent == .alert ? plan.policy.alert : background
    let from = now - rule.per
    let times = (observer.attempts[key] ?? []).filter { $0.intent == intent && $0.at > from }
    let crashes = faults.crashes.count { $0 > from }
    // A start with a wrong clock omits the time since the last fold. Once the clock is right, the
    // relay's time catches up, and attempts made meanwhile look older than they are.
    let hasCaughtUp = faults.corrections.contains { $0 > from }
    try demand(
      .theBudgetHolds, times.count <= rule.max + crashes + (hasCaughtUp ? rule.max : 0),
      "\(times.count) \(intent) attempts for \(key.line) in \(rule.per.milliseconds) ms")
  }

  /// P4: a push names a zone only when a notification of that zone is in the store.
  private func checkDurable(_ text: PushText, _ key: DeviceKey) throws {
    if plan.limits.notificationsPerUser < 100 || observer.hasTrimmed { return }
    let feed = FeedKey(scope: World.scope, kind: .notifications(key.user))
    let subjects = store.world.feeds[feed]?.rows ?? [:]
    for ref in text.zones {
      let isLogged = subjects.keys.contains {
        if case .notification(_, let zone, _) = $0 { zone == ref.zone } else { false }
      }
      try demand(
        .nothingIsVisibleBeforeItIsDurable, isLogged,
        "a push to \(key.line) names \(ref.zone) before the fold")
    }
  }

  func check(_ answer: PageAnswer, for reader: SimulatedDaemon.Reader) throws {
    let (query, feed) = (reader.query, reader.query.feed)
    let isSame = reader.turns == turns(of: feed)
    switch answer {
    case .page(let page):
      try demand(
        .onlyTheEntitledSee, !(reader.wasRevoked && isSame),
        "\(query.reader) reads \(feed.text) after its end")
      if let promise = clients[reader.client].follows[feed]?.tokenIsVoid {
        try demand(
          promise, query.after == nil, "a token that must read nothing reads \(feed.text)")
      }
      let end = page.next.position
      try demand(
        .nothingIsVisibleBeforeItIsDurable, page.hasMore || end >= reader.atLeast,
        "\(feed.text) ends at \(end.ordinal)"
          + " and \(reader.atLeast.ordinal) was accepted before the read")
      try demand(
        .catchUpIsWhole, !page.hasMore || end > query.after?.position ?? .zero,
        "a page with more did not advance")
      try demand(
        .everythingIsBounded, page.entries.count <= query.limit, "a page of \(page.entries.count)")
    case .absent:
      try demand(
        .onlyTheEntitledSee, !(reader.wasGranted && isSame),
        "\(query.reader) may read \(feed.text), and cannot")
    case .expired: break
    }
  }

  /// P3: a reader that was caught up gets no deletion of a subject that the reader never held.
  func checkMinimal(_ page: Page, _ reader: SimulatedDaemon.Reader) throws {
    var seen: Set<Subject> = []
    for entry in page.entries {
      try demand(
        .catchUpIsMinimal, seen.insert(entry.subject).inserted, "one subject twice in a page")
      if entry.life.isPresent || entry.isReadMark(since: page.since) { continue }
      let held = clients[reader.client].follows[reader.query.feed]?.held[entry.subject]
      let isCaughtUp = reader.query.after.map { $0.scanHead == nil } ?? true
      let isSimple = entry.life.born != .zero && entry.life.died == .zero
      try demand(
        .catchUpIsMinimal, held != nil || !isCaughtUp || !isSimple,
        "the end of what the reader never held: \(entry.subject)")
      try demand(
        .catchUpIsMinimal, reader.query.after != nil, "a deletion in a scan: \(entry.subject)")
    }
  }

  /// P6, P11: the stored state of a device is bounded, whatever has happened.
  func checkBounds(_ cut: Cut) throws {
    for row in cut.partitions.lazy.flatMap(\.devices) {
      let pending = row.lane.pending
      let isBounded =
        pending.zones.count <= plan.limits.zonesPending && pending.query.count <= 1
        && pending.overflow.count <= 1 && pending.alerts.count <= plan.limits.alertsPending + 1
        && row.lane.background.times.count <= plan.policy.backgroundMost
        && row.lane.alert.times.count <= plan.policy.alert.max
      try demand(
        .everythingIsBounded, isBounded, "the lane of \(row.key.line) grew: \(pending)")
    }
  }

  /// Checks P12 and the bound of the inbox, after every input.
  func checkLedger() throws {
    guard let daemon else { return }
    try demand(
      .everythingIsBounded, !daemon.isOverBounds(plan.settings),
      "the inbox holds more than its bounds")
    for id in people.homes {
      var ledger = daemon.coordinator.ledger(of: id)
      if tell != nil, observer.ledgers[id] != ledger {
        observer.ledgers[id] = ledger
        tell?("  ledger \(id.number): \(ledger.line)")
      }
      if mutant == .countsTwice, ledger.woken > 1 { ledger.woken += 1 }
      try demand(
        .theLedgerBalances, ledger.isBalanced && ledger.pending >= 0,
        "partition \(id.number): \(ledger)")
    }
  }

  /// P10: forged and swapped tokens are refused.
  func attack() throws {
    let client = draw.pick(clients)
    guard let feed = client.follows.keys.sorted().first, let token = client.follows[feed]?.token
    else { return }
    var forged = token
    let bit = draw.below(token.count * 8)
    forged[bit / 8] ^= 1 << UInt8(bit % 8)
    let stranger = UserID("_stranger")
    let other = FeedKey(scope: feed.scope, kind: .notifications(stranger))
    let tries = [
      open(forged, feed, client.user), open(token, other, stranger),
      open(token, feed, stranger), open(token, other, client.user),
    ]
    for case .place(let place) in tries {
      throw InvariantViolation(.noTokenIsForged, "a forged token opened to \(place)")
    }
  }
}
