import RelayCore

/// The apps: they register, subscribe, receive wakes, fetch pages and keep their tokens.
extension World {
  func act(_ index: Int) {
    if faults.isOver { return }
    let client = clients[index]
    if client.registered == nil || providers.deadTokens.contains(client.token) {
      if providers.deadTokens.contains(client.token) { clients[index].token = takeToken() }
      register(index, as: client.user)
      subscribe(index)
      return fetchAll(index)
    }
    if draw.permille(plan[.signOuts]) { return signOut(index) }
    if draw.permille(plan[.userSwitches]) { return switchUser(index) }
    if draw.permille(plan[.tokenSwaps]) { return takeOverToken(index) }
    if draw.permille(plan[.expiries]) { expireTokens(of: client.user) }
    if draw.permille(plan[.readMarks]) { markRead(index) }
    switch draw.below(4) {
    case 0: register(index, as: client.user)
    case 1: subscribe(index)
    default: if !client.isMute { fetchAll(index) }
    }
  }

  func register(_ index: Int, as user: UserID) {
    let client = clients[index]
    send(
      .register(
        Registration(
          scope: World.scope, user: user, client: client.id, address: client.address)), index)
  }

  private func send(_ fact: Fact, _ client: Int) { send([fact], by: client, within: 20) }

  private func signOut(_ index: Int) {
    clients[index].follows = [:]
    clients[index].lastWake = [:]
    send(
      .unregister(
        Unregistration(
          scope: World.scope, user: clients[index].user, device: .client(clients[index].id))),
      index)
  }

  /// Marks up to three of the notifications that the client holds as read. Some of them may already
  /// be read.
  private func markRead(_ index: Int) {
    let user = clients[index].user
    let feed = FeedKey(scope: World.scope, kind: .notifications(user))
    let held = (clients[index].follows[feed]?.held.values ?? [:].values).sorted()
    guard !held.isEmpty else { return }
    let known = (0...draw.below(3)).compactMap { _ in Identifier(text: draw.pick(held).prefix(36)) }
    send(
      .markRead(
        ReadRequest(
          scope: World.scope, user: user, client: clients[index].id, notifications: known)),
      index)
  }

  private func switchUser(_ index: Int) {
    clients[index].follows = [:]
    clients[index].user = draw.pick(people.users)
    clients[index].registered = nil
    register(index, as: clients[index].user)
  }

  /// Simulates the restore of a phone: this client takes over the push token of another client, and
  /// the other client gets a new token.
  private func takeOverToken(_ index: Int) {
    let other = draw.below(clients.count)
    guard other != index else { return }
    clients[index].token = clients[other].token
    clients[other].token = takeToken()
    register(index, as: clients[index].user)
  }

  private func expireTokens(of user: UserID) {
    daemon?.submit(.expireTokens(TokenExpiry(user: user)))
  }

  private func subscribe(_ index: Int) {
    let user = clients[index].user
    let (name, database, rule) = template(user)
    var info = NotificationInfo()
    if draw.permille(plan[.visible]) {
      info.alert.body = "Hello"
      info.isContentAvailable = draw.below(2) == 0
    }
    let operation: SubscriptionsRequest.Operation =
      draw.permille(plan[.unsubscribes])
      ? .delete(SubscriptionID(name))
      : .save(
        Subscription(id: SubscriptionID(name), database: database, rule: rule, info: info))
    send(.subscriptions(operation, of: user, in: database), index)
  }

  private func template(_ user: UserID) -> (String, Database, Subscription.Rule) {
    let zone = ZoneID(name: "Z\(draw.below(plan.zonesPerUser))", owner: user)
    let filter = QueryRule.Filter(field: "k", comparator: .equals, value: .int64(1))
    switch draw.below(9) {
    case 8: return ("once", .private, .query(QueryRule(recordType: "A", firesOnce: true)))
    case 0, 1: return ("db", .private, .database(recordType: nil))
    case 2: return ("db", .shared, .database(recordType: nil))
    case 3: return ("zone-\(zone.name)", .private, .zone(zone, recordType: nil))
    case 4: return ("query", .private, .query(QueryRule(recordType: "A")))
    case 5: return ("shared", .shared, .query(QueryRule(recordType: "A")))
    case 6: return ("public", .public, .query(QueryRule(recordType: "A")))
    default: return ("filter", .public, .query(QueryRule(recordType: "A", filters: [filter])))
    }
  }

  func woken(_ index: Int, _ wake: UInt32, _ user: UserID) {
    guard clients[index].registered == user, !clients[index].isMute else { return }
    if draw.below(6) == 0, daemon != nil {
      acknowledge(.wake(wake), index)
    } else {
      fetchAll(index)
    }
  }

  private func fetchAll(_ index: Int) {
    for feed in World.feeds(of: clients[index].user) { soon(100, .fetch(client: index, feed)) }
    for key in clients[index].follows.keys.sorted() {
      if case .zone = key.kind { soon(100, .fetch(client: index, key)) }
    }
  }
}
