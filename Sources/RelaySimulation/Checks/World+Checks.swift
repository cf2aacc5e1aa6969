import RelayCore
import RelayMemory

/// The checks that run at every push, page, fold and step.
extension World {
  func check(_ attempt: PushAttempt, _ text: PushText) throws {
    let key = attempt.device
    if attempt.payload.count > plan.limits.payloadBytes {
      throw InvariantViolation(.everythingIsBounded, "a payload of \(attempt.payload.count) bytes")
    }
    if observer.inFlight[key] != nil {
      throw InvariantViolation(.oneAttemptAtATime, "two attempts in flight for \(key.line)")
    }
    let isOverCourier = attempt.route.transport == .courier
    if !isOverCourier, attempt.address.transport == .courier {
      throw InvariantViolation(
        .everyDeviceIsWoken, "\(key.line) has only the courier, and is pushed to")
    }
    if !isOverCourier, let owner = observer.owners[attempt.address.place], owner != key {
      throw InvariantViolation(
        .onlyTheEntitledSee, "\(key.line) is pushed to \(owner.line)'s address")
    }
    if !isOverCourier, observer.found.contains(key), let token = attempt.address.token.first,
      attempt.address.environment != World.home(of: token)
    {
      throw InvariantViolation(
        .everyDeviceIsWoken, "\(key.line) was found, and is looked for elsewhere")
    }
    if observer.hasShown(attempt, text) {
      throw InvariantViolation(.oneAttemptAtATime, "\(key.line) is shown an alert again")
    }
    observer.began(attempt, at: now)
    if !isOverCourier { try checkBudget(key, attempt.intent) }
    if let nid = text.notification, let identifier = Identifier(text: nid),
      model.authors[identifier] == Change.Author(user: key.user, client: key.client)
    {
      throw InvariantViolation(
        .noDeviceIsWokenByItself, "\(key.line) is woken by its own change \(nid)")
    }
    try checkEnds(text, key)
    try checkNamed(attempt, text)
    try checkDurable(text, key)
    try checkSlot(text, key)
  }

  /// P9: no push names a zone to a user whose entitlement has ended.
  func checkEnds(_ text: PushText, _ key: DeviceKey) throws {
    // A database subscription reports the end itself; no other push may name the zone.
    let hearsOfEnds = model.subscriptions[key.user, default: []].contains {
      $0.subscription.rule == .database(recordType: nil) && $0.subscription.database == .shared
    }
    for ref in text.zones + [text.shown].compactMap(\.self) {
      let isRevoked = observer.answered.ended.contains(
        WorldObserver.Share(zone: ref.zone, user: key.user))
      let isOfTheEnd = hearsOfEnds && (ref != text.shown || text.record == nil)
      if ref.database == .shared, isRevoked, !isOfTheEnd {
        throw InvariantViolation(
          .onlyTheEntitledSee, "\(key.line) is told of \(ref.zone) after its end")
      }
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
    if !isNamed {
      throw InvariantViolation(
        .everyDeviceIsWoken, "\(attempt.device.line) is shown an alert of \(shown), not named")
    }
  }

  /// P5: no device is told to wait longer than the longest smear or until a time that has passed,
  /// and a device that must wait is told until when.
  private func checkSlot(_ text: PushText, _ key: DeviceKey) throws {
    guard let seconds = text.notBefore else {
      if text.waiting.isEmpty { return }
      throw InvariantViolation(
        .everyDeviceIsWoken, "\(key.line) is to wait and not told until when")
    }
    outcome.counts[.waits] += 1
    let notBefore = Instant(milliseconds: seconds * 1_000)
    let now = moment.wall
    if notBefore < now || notBefore > now + plan.policy.smearing.longest + .seconds(1) {
      throw InvariantViolation(.everyDeviceIsWoken, "\(key.line) is told to wait until \(seconds)")
    }
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
    if times.count > rule.max + crashes + (hasCaughtUp ? rule.max : 0) {
      throw InvariantViolation(
        .theBudgetHolds,
        "\(times.count) \(intent) attempts for \(key.line) in \(rule.per.milliseconds) ms")
    }
  }

  /// P4: a push names a zone only when a notification of that zone is in the store.
  private func checkDurable(_ text: PushText, _ key: DeviceKey) throws {
    if plan.limits.notificationsPerUser < 100 || observer.hasTrimmed { return }
    let feed = FeedKey(scope: World.scope, kind: .notifications(key.user))
    let subjects = store.feeds[feed]?.rows ?? [:]
    for ref in text.zones {
      let isLogged = subjects.keys.contains {
        if case .notification(_, let zone, _) = $0 { zone == ref.zone } else { false }
      }
      if !isLogged {
        throw InvariantViolation(
          .nothingIsVisibleBeforeItIsDurable, "\(key.line) is told of \(ref.zone) before the fold")
      }
    }
  }

  func check(_ answer: PageAnswer, for reader: SimulatedDaemon.Reader) throws {
    let feed = reader.query.feed
    let follow = clients[reader.client].follows[feed]
    switch answer {
    case .page(let page):
      if reader.wasRevoked, reader.turns == turns(of: feed) {
        throw InvariantViolation(
          .onlyTheEntitledSee, "\(reader.query.reader) reads \(feed.text) after its end")
      }
      if let promise = follow?.tokenIsVoid, reader.query.after != nil {
        throw InvariantViolation(promise, "a token that must read nothing reads \(feed.text)")
      }
      if !page.hasMore, page.next.position < reader.atLeast {
        throw InvariantViolation(
          .nothingIsVisibleBeforeItIsDurable,
          "\(feed.text) ends at \(page.next.position.ordinal)"
            + " and \(reader.atLeast.ordinal) was accepted before the read")
      }
      if page.hasMore, page.next.position <= (reader.query.after?.position ?? .zero) {
        throw InvariantViolation(.catchUpIsWhole, "a page with more did not advance")
      }
      if page.entries.count > reader.query.limit {
        throw InvariantViolation(.everythingIsBounded, "a page of \(page.entries.count)")
      }
    case .absent:
      if reader.wasGranted, reader.turns == turns(of: feed) {
        throw InvariantViolation(
          .onlyTheEntitledSee, "\(reader.query.reader) may read \(feed.text), and cannot")
      }
    case .expired: break
    }
  }

  /// P3: a reader that was caught up gets no deletion of a subject that the reader never held.
  func checkMinimal(_ page: Page, _ reader: SimulatedDaemon.Reader) throws {
    var seen: Set<Subject> = []
    for entry in page.entries {
      if !seen.insert(entry.subject).inserted {
        throw InvariantViolation(.catchUpIsMinimal, "one subject twice in a page")
      }
      if entry.life.isPresent || entry.isReadMark(since: page.since) { continue }
      let held = clients[reader.client].follows[reader.query.feed]?.held[entry.subject]
      let isCaughtUp = reader.query.after.map { $0.scanHead == nil } ?? true
      let isSimple = entry.life.born != .zero && entry.life.died == .zero
      if held == nil, isCaughtUp, isSimple {
        throw InvariantViolation(
          .catchUpIsMinimal, "the end of what the reader never held: \(entry.subject)")
      }
      if reader.query.after == nil {
        throw InvariantViolation(.catchUpIsMinimal, "a deletion in a scan: \(entry.subject)")
      }
    }
  }

  /// P6, P11: the stored state of a device is bounded, whatever has happened.
  func checkBounds(_ cut: Cut) throws {
    for row in cut.partitions.lazy.flatMap(\.devices) {
      let pending = row.lane.pending
      guard pending.zones.count <= plan.limits.zonesPending, pending.query.count <= 1,
        pending.overflow.count <= 1, pending.alerts.count <= plan.limits.alertsPending + 1,
        row.lane.background.times.count <= plan.policy.backgroundMost,
        row.lane.alert.times.count <= plan.policy.alert.max
      else {
        throw InvariantViolation(
          .everythingIsBounded, "the lane of \(row.key.line) grew: \(pending)")
      }
    }
  }

  /// Checks P12 and the bound of the inbox, after every input.
  func checkLedger() throws {
    guard let daemon else { return }
    if daemon.isOverBounds(plan.settings) {
      throw InvariantViolation(.everythingIsBounded, "the inbox holds more than its bounds")
    }
    for id in people.homes {
      var ledger = daemon.ledger(of: id)
      if tell != nil, observer.ledgers[id] != ledger {
        observer.ledgers[id] = ledger
        tell?("  ledger \(id.number): \(ledger.line)")
      }
      if mutant == .countsTwice, ledger.woken > 1 { ledger.woken += 1 }
      guard ledger.isBalanced, ledger.pending >= 0 else {
        throw InvariantViolation(.theLedgerBalances, "partition \(id.number): \(ledger)")
      }
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
