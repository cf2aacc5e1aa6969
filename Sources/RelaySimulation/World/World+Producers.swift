import RelayCore

/// The state of the record servers.
struct ProducerState {
  var changesLeft: Int
  var nextID: UInt64 = 1
  var numberDraw: SeededRandom
  var loadDraw: SeededRandom
  /// For each zone, the last number that each source of its producers gave.
  var lastNumber: [ZoneID: [UInt64: Int64]] = [:]
  /// For the fingerprint of each change that was sent in one request with other changes: the index
  /// of this request in `operations`.
  var requests: [UInt64: Int] = [:]
  /// Facts that are durable and in no fold yet, of requests that held several changes.
  var shares: [World.Share] = []
  /// Authors that a planted bug hides from the daemon.
  var hidden: [Identifier: Change.Author] = [:]
}

/// The record servers: they report changes, and repeat unanswered requests with the same ids.
extension World {
  func produce() {
    guard producers.changesLeft > 0 else { return }
    producers.changesLeft -= 1
    var change = makeChange()
    let isNumbered = number(&change)
    let changes = [change] + companions(of: change)
    operations.append(Operation(facts: changes.map { .change($0) }))
    let operation = operations.count - 1
    if changes.count > 1 {
      for change in changes { producers.requests[change.fingerprint] = operation }
    }
    if isNumbered, producers.numberDraw.permille(plan[.numbersLost]) {
      // The sender has lost the request, so the run need not wait for an answer to the request.
      operations[operation].isAnswered = true
      return
    }
    soon(isNumbered ? plan.disorder.milliseconds : 20, .submit(operation: operation))
    if draw.permille(plan[.repeats]) { soon(4_000, .submit(operation: operation)) }
  }

  private func makeChange() -> Change {
    let owner = draw.pick(people.users)
    var zone = ZoneID(name: "Z\(draw.below(plan.zonesPerUser))", owner: owner)
    var database = Database.private
    var event: Change.Event
    if draw.permille(plan[.shares]) {
      let guest = draw.pick(people.users)
      event = draw.below(3) == 0 ? .revoked(guest) : .granted(guest)
    } else if draw.permille(plan[.zoneEnds]) {
      event = .zone(draw.pick([.created, .deleted, .deleted, .purged, .reset]))
    } else {
      if draw.permille(plan[.publicChanges]) {
        (zone, database) = (.publicDefault, .public)
      } else if draw.permille(plan[.defaultZone]) {
        zone.name = ZoneID.defaultName
      }
      event = .record(makeRecord())
    }
    producers.nextID += 1
    var author: Change.Author?
    if draw.below(3) > 0 {
      let client = draw.pick(clients)
      author = Change.Author(user: client.user, client: draw.below(8) == 0 ? nil : client.id)
    }
    return Change(
      scope: World.scope, database: database, zone: zone, event: event, author: author,
      fetchCapacity: plan.fetchCapacity, time: now,
      notification: World.notification("n\(producers.nextID)"),
      fingerprint: producers.nextID &* 0x9e37_79b9_7f4a_7c15)
  }

  /// Numbers some changes: two sources give each zone's changes numbers, each in a number space of
  /// its own. Returns true if the change got a number.
  private func number(_ change: inout Change) -> Bool {
    guard change.database == .private, producers.numberDraw.permille(plan[.numbered]) else {
      return false
    }
    change.origin = UInt64(1 + producers.numberDraw.below(2))
    let number =
      producers.lastNumber[change.zone]?[change.origin] ?? Int64(producers.numberDraw.below(2))
    producers.lastNumber[change.zone, default: [:]][change.origin] = number + 1
    change.sequence = number
    return true
  }

  private func makeRecord() -> RecordChange {
    let number = draw.below(plan.recordNames)
    return RecordChange(
      verb: draw.pick([.created, .updated, .updated, .deleted]), name: "r\(number)",
      type: number.isMultiple(of: 2) ? "A" : "B", tag: "t\(producers.nextID)",
      fields: [Field(name: "k", value: .int64(Int64(draw.below(2))))] + largeValue())
  }

  /// Sends a request for the first time within `most` milliseconds.
  func send(_ facts: [Fact], by client: Int? = nil, within most: Int64) {
    operations.append(Operation(facts: facts, client: client))
    soon(most, .submit(operation: operations.count - 1))
  }

  func submit(_ operation: Int) {
    guard let daemon else { return soon(2_000, .retry(operation: operation)) }
    let facts = operations[operation].facts
    let isTorn = mutant == .tearsRequests
    let isTaken = daemon.offer(
      isTorn ? facts : facts.map(anonymous), by: submitter(of: operation), for: operation,
      isTorn: isTorn)
    if !isTaken {
      outcome.counts[.refusals] += 1
      reply(operation, .unavailable)
    } else if mutant == .answersEarly, case .change = facts[0] {
      soon(3, .answer(operation: operation, .answers(facts.map { _ in .accepted })))
    }
    at(.seconds(Int64(draw.from(3...8))), .retry(operation: operation))
  }

  private func submitter(of operation: Int) -> Submitter {
    .caller(UInt64(operations[operation].client.map { $0 + 1 } ?? 0))
  }

  func retry(_ operation: Int) {
    if !operations[operation].isAnswered { submit(operation) }
  }

  func answered(_ operation: Int, _ reply: Reply) throws {
    if case .unavailable = reply { return }
    guard !operations[operation].isAnswered else { return }
    operations[operation].isAnswered = true
    guard case .answers(let answers) = reply else { return }
    for (fact, answer) in zip(operations[operation].facts, answers) {
      try answered(operation, fact, answer)
    }
  }

  private func answered(_ operation: Int, _ fact: Fact, _ answer: Answer) throws {
    switch fact {
    case .change(let change):
      if answer == .duplicate { outcome.counts[.duplicates] += 1 }
      guard answer == .accepted || answer == .duplicate else { return }
      try observer.accepted(change, model)
      endTokens(of: change)
    case .register(let request):
      guard let client = operations[operation].client, case .registered = answer else { return }
      observer.registered(
        DeviceKey(scope: request.scope, user: request.user, client: request.client),
        at: request.address)
      if clients[client].user == request.user { clients[client].registered = request.user }
    case .unregister:
      guard let client = operations[operation].client else { return }
      clients[client].registered = nil
    default: break
    }
  }
}

extension World {
  /// Marks the zone's tokens of users whose access has ended: these tokens must read nothing, even
  /// after a later grant.
  private func endTokens(of change: Change) {
    let feed = FeedKey(scope: World.scope, kind: .zone(change.zone))
    for index in clients.indices where observer.isRevoked(clients[index].user, feed) {
      guard clients[index].follows[feed]?.token != nil else { continue }
      clients[index].follows[feed]?.tokenIsVoid = .onlyTheEntitledSee
    }
  }
}
