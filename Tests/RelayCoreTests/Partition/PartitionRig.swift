import RelayCore

/// One partition with a journal and folds that succeed at once.
struct PartitionRig {
  var partition: Partition
  var ordinal: UInt64 = 0
  var now = Sample.start
  var effects: [Effect] = []
  /// The effects of the last fact.
  var last: [Effect] = []
  var journal: [(ordinal: Ordinal, at: Instant, fact: Fact)] = []
  var cuts: [PartitionCut] = []
  var fingerprint: UInt64 = 100
  /// How far the wall clock is ahead of `now`.
  var wallAhead = Span.zero
  /// Lanes that are ready to be woken, in their routes' queues.
  var lines: [ReadyLane] = []

  init(
    _ home: UserID = Sample.owner, limits: Limits = Limits(), policy: WakePolicy = WakePolicy()
  ) {
    let id = PartitionID.home(of: home, in: Sample.scope)
    partition = Partition(PartitionTables(id: id), limits: limits, policy: policy)
  }

  @discardableResult
  mutating func step(_ fact: Fact) -> Answer {
    ordinal += 1
    last = []
    partition.step(fact, ordinal: Ordinal(ordinal), at: now, into: &last)
    journal.append((Ordinal(ordinal), now, fact))
    effects += last
    guard case .answer(_, _, let answer, _)? = last.last else { return .done }
    return answer
  }

  @discardableResult
  mutating func change(
    _ event: Change.Event, in zone: ZoneID = Sample.zone, _ database: Database = .private,
    by client: ClientID? = nil, fingerprint: UInt64? = nil
  ) -> Answer {
    step(.change(make(event, in: zone, database, by: client, fingerprint: fingerprint)))
  }

  mutating func make(
    _ event: Change.Event, in zone: ZoneID = Sample.zone, _ database: Database = .private,
    by client: ClientID? = nil, fingerprint: UInt64? = nil
  ) -> Change {
    self.fingerprint += 1
    return Change(
      scope: Sample.scope, database: database, zone: zone, event: event,
      author: client.map { Change.Author(user: zone.owner, client: $0) }, time: now,
      notification: Sample.nid(self.fingerprint), fingerprint: fingerprint ?? self.fingerprint)
  }

  /// Steps a message of another partition.
  @discardableResult
  mutating func hear(_ message: Forwarded.Message, _ serial: UInt64) -> Answer {
    let source = PartitionID((Int(partition.id.number) + 1) % PartitionID.count)
    return step(
      .forwarded(Forwarded(source: source, serial: Sample.position(serial), message: message)))
  }

  @discardableResult
  mutating func register(
    _ client: UInt64, of user: UserID = Sample.owner, address: Address? = nil
  ) -> Answer {
    step(
      .register(
        Registration(
          scope: Sample.scope, user: user, client: Sample.client(client),
          address: address ?? Sample.address(UInt8(truncatingIfNeeded: client)))))
  }

  @discardableResult
  mutating func save(
    _ id: String, _ rule: Subscription.Rule, _ database: Database = .private,
    of user: UserID = Sample.owner, visible: Bool = false
  ) -> Answer {
    var info = NotificationInfo()
    if visible { info.alert.body = "Hello" }
    let subscription = Subscription(
      id: SubscriptionID(id), database: database, rule: rule, info: info)
    return step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: user, database: database, operations: [.save(subscription)])))
  }

  /// Cuts everything that there is. Later changes are not in the cut.
  @discardableResult
  mutating func cut() -> PartitionCut {
    let cut = partition.cut()
    cuts.append(cut)
    return cut
  }

  /// Makes the last cut durable.
  mutating func keep() { lines += partition.folded(at: now) }

  /// Folds everything; the fold is durable at once. Returns the cut.
  @discardableResult
  mutating func fold() -> PartitionCut {
    defer { keep() }
    return cut()
  }

  /// Lets `seconds` pass and folds everything. Then begins an attempt for each lane that may be
  /// woken.
  ///
  /// - Returns: the attempts that have begun.
  mutating func wake(after seconds: Double = 3) -> [PushAttempt] {
    now = now + Span(milliseconds: Int64(seconds * 1_000))
    for _ in 0..<3 {
      lines += partition.ready(at: now)
      fold()
    }
    defer { lines = [] }
    return lines.compactMap { partition.begin($0, at: now, wallAhead: wallAhead) }
  }

  mutating func ended(_ attempt: PushAttempt, _ verdict: Verdict) {
    partition.ended(attempt.id, verdict, at: now, &effects)
  }
}

extension Change.Event {
  static func record(_ verb: RecordChange.Verb, _ name: String = "A1") -> Change.Event {
    .record(RecordChange(verb: verb, name: name, type: "Article"))
  }
}

extension PartitionCut {
  func feed(_ kind: FeedKey.Kind) -> FeedCut? {
    feeds.first { $0.feed == FeedKey(scope: Sample.scope, kind: kind) }
  }
}

extension PushAttempt {
  var text: String { String(decoding: payload, as: UTF8.self) }
}

/// `count` users whose home is the home of `user`, or, if `isThere` is false, another partition.
func users(_ count: Int, inHomeOf user: UserID, _ isThere: Bool) -> [UserID] {
  let home = PartitionID.home(of: user, in: Sample.scope)
  var found: [UserID] = []
  var number = 0
  while found.count < count {
    let candidate = UserID("_u\(number)")
    if (PartitionID.home(of: candidate, in: Sample.scope) == home) == isThere {
      found.append(candidate)
    }
    number += 1
  }
  return found
}
