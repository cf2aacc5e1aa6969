import RelayCore
import RelayMemory

/// The clients' catch-up: clients send tokens, receive pages, and apply the pages.
extension World {
  /// The database in which a user sees a zone.
  static func database(of zone: ZoneID, for user: UserID) -> Database {
    zone.owner == user ? .private : .shared
  }

  func fetch(_ index: Int, _ feed: FeedKey) throws {
    let client = clients[index]
    if client.follows[feed]?.isFetching == true { return }
    guard feed.isMeant(for: client.user) else { return }
    guard let daemon else { return soon(3_000, .fetch(client: index, feed)) }
    let follow = client.follows[feed] ?? Follow()
    clients[index].follows[feed] = follow
    var place: FeedCursor?
    if let token = follow.token {
      guard case .place(let opened) = open(token, feed, client.user) else {
        throw InvariantViolation(.catchUpIsWhole, "a client's own token was refused")
      }
      place = opened
      reached(opened.position, feed, index)
    }
    clients[index].follows[feed]?.isFetching = true
    let reader = SimulatedDaemon.Reader(
      client: index,
      query: PageQuery(
        feed: feed, reader: client.user, after: place, limit: draw.from(1...plan.pageMax)),
      token: follow.token, atLeast: observer.shown[feed] ?? .zero,
      wasRevoked: observer.isRevoked(client.user, feed),
      wasGranted: isGranted(client.user, feed), turns: turns(of: feed))
    if mutant == .readsEarly { return try read(reader) }
    switch daemon.read(reader) {
    case nil: break
    case .visible: try read(reader)
    case .refused: comesAgain(reader)
    }
  }

  func open(_ token: [UInt8], _ feed: FeedKey, _ user: UserID) -> ChangeToken.Opened {
    if mutant == .trustsTokens, token.count == ChangeToken.byteCount {
      return .place(FeedCursor(era: store.world.eras(of: feed).all.last?.id ?? 0, position: .zero))
    }
    return ChangeToken.open(token, feed: feed, reader: user, with: World.keys)
  }

  /// Whether the feed's zone exists, and the user owns the zone or has a grant for it that the
  /// relay has answered to the producer. True for every feed that is not of a zone.
  private func isGranted(_ user: UserID, _ feed: FeedKey) -> Bool {
    guard case .zone(let zone) = feed.kind else { return true }
    return model.zones[zone]?.isAlive == true && model.isEntitled(user, to: zone)
      && (zone.owner == user
        || observer.answered.begun.contains(WorldObserver.Share(zone: zone, user: user)))
  }

  func turns(of feed: FeedKey) -> Int {
    guard case .zone(let zone) = feed.kind else { return 0 }
    return model.zones[zone]?.turns ?? 0
  }

  func read(_ reader: SimulatedDaemon.Reader) throws {
    let feed = reader.query.feed
    let answer = store.page(reader.query)
    tell?("  after \(reader.query.after.line): \(answer.line)")
    try check(answer, for: reader)
    outcome.counts.count(answer)
    if case .expired(let why) = answer, let fact = why.fact(of: feed) {
      daemon?.submit(fact)
    }
    guard clients[reader.client].user == reader.query.reader,
      let follow = clients[reader.client].follows[feed], follow.token == reader.token
    else { return }
    clients[reader.client].follows[feed]?.isFetching = false
    if draw.permille(plan[.answerLost]) { return soon(5_000, .fetch(client: reader.client, feed)) }
    try take(answer, reader)
  }

  private func take(_ answer: PageAnswer, _ reader: SimulatedDaemon.Reader) throws {
    let (index, feed) = (reader.client, reader.query.feed)
    switch answer {
    case .absent:
      clients[index].follows[feed] = nil
    case .expired:
      clients[index].follows[feed] = Follow()
      soon(200, .fetch(client: index, feed))
    case .page(let page):
      try checkMinimal(page, reader)
      show(page, index, feed)
      reached(page.next.position, feed, index)
      if case .database(_, let database) = feed.kind {
        let zones = page.entries.compactMap(\.zone)
        acknowledge(.listed(zones, database), index)
      }
      if page.hasMore { soon(200, .fetch(client: index, feed)) }
    }
  }

  /// Applies a page to what the client holds.
  func show(_ page: Page, _ index: Int, _ feed: FeedKey) {
    for entry in page.entries {
      clients[index].follows[feed]?.held[entry.subject] =
        entry.life.isPresent ? entry.told : nil
      if let zone = entry.zone {
        let key = FeedKey(scope: World.scope, kind: .zone(zone))
        if !entry.life.isPresent {
          clients[index].follows[key] = nil
        } else if !faults.isOver || daemon != nil {
          soon(200, .fetch(client: index, key))
        }
      }
    }
    let token = ChangeToken.seal(
      page.next, feed: feed, reader: clients[index].user, with: World.keys)
    clients[index].follows[feed]?.token = token
    clients[index].follows[feed]?.tokenIsVoid = nil
  }

  /// Reports that the client has the feed up to `position`: a page ended there, or the client sent
  /// the position as a token.
  private func reached(_ position: Position, _ feed: FeedKey, _ index: Int) {
    switch feed.kind {
    case .notifications: acknowledge(.notifications(position), index)
    case .zone(let zone):
      let user = clients[index].user
      let database = World.database(of: zone, for: user)
      // The position holds an ordinal of the zone's home, which is also its owner's home. Another
      // user's home has ordinals of its own, so the newest one that it has stepped is used.
      let stepped = daemon?.coordinator.stepped(in: .home(of: user, in: World.scope)) ?? .zero
      acknowledge(
        .zone(zone, database, position), index,
        before: database == .private ? position.ordinal : stepped)
    case .database: break
    }
  }

  /// Tells the relay what the client has read or handled.
  func acknowledge(_ what: Acknowledged, _ index: Int, before: Ordinal = .zero) {
    let key = clients[index].key
    daemon?.add(.acknowledged(what, key))
    observer.acknowledged(what, by: key, before: before)
  }
}

extension FeedKey {
  func isMeant(for user: UserID) -> Bool {
    switch kind {
    case .notifications(let owner), .database(let owner, _): owner == user
    case .zone: true
    }
  }
}

extension Entry {
  var zone: ZoneID? { if case .zone(let zone) = subject { zone } else { nil } }

  /// The text that a client keeps of the entry.
  var told: String {
    switch detail {
    case .record(_, let tag, _): tag ?? "-"
    case .zone: "zone"
    case .notification(let detail): detail.notification.text + (detail.isRead ? " read" : "")
    }
  }
}

extension Entry {
  /// Whether the reader at `token` has seen the notification, and only its read mark is new.
  func isReadMark(since token: Position) -> Bool {
    if case .notification(let detail) = detail { detail.isReadMark(since: token) } else { false }
  }
}
