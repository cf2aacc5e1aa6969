import RelayCore

/// One life of the daemon: the driver around the real core. Everything in here is lost in a crash.
///
/// It asks, switches and performs, as the engine's loop does; the world tells it when its commits
/// and folds are durable.
final class Daemon {
  var relay: Relay
  let life: Int
  var inbox: [Waiting] = []
  /// Facts of our own, never refused.
  var own: [Waiting] = []
  var commit: [Placed] = []
  var cut: Cut?
  var open: Set<ReadPlace> = []
  var inCut: Set<ReadPlace> = []
  var readers: [Reader] = []
  var readersInCut: [Reader] = []
  var answers: [Due] = []
  var answersInCut: [Due] = []
  var forwards: [Place: (left: Int, due: [Due])] = [:]
  var late: [Due] = []
  var forwarding = Forwarding()
  var isFoldScheduled = false
  var armed = Instant.never

  enum Origin {
    case operation(Int)
    case forward(OutboxRow.Key, from: PartitionID)
    case none
  }

  struct Waiting {
    var partition: PartitionID
    var fact: Fact
    var origin: Origin
  }

  struct Placed {
    var row: JournalEntry
    var origin: Origin
  }

  struct Due {
    var operation: Int
    var answer: Answer
    var place: Place
    var moment: Answer.Moment
  }

  struct Place: Hashable {
    var partition: PartitionID
    var ordinal: Ordinal
  }

  /// A read that waits for the fold.
  struct Reader {
    var client: Int
    var query: PageQuery
    /// What the client asked with: an answer to what it has forgotten since is dropped.
    var token: [UInt8]?
    /// What its answer must show at least: accepted before the read began.
    var atLeast: Position
    var wasRevoked: Bool
    var wasGranted: Bool
    /// The zone's turns when the read began.
    var turns: Int
  }

  init(life: Int, store: SimulatedStore, limits: Limits, policy: WakePolicy) {
    self.life = life
    relay = Relay(PartitionID.all.map { store.tables(of: $0) }, limits: limits, policy: policy)
    var effects: [Effect] = []
    for id in PartitionID.all {
      for row in store.journal(of: id) {
        relay.step(
          row.fact, in: row.partition, ordinal: row.ordinal, at: row.at, into: &effects)
      }
    }
    for case .dirtied(let place) in effects { open.insert(place) }
    for (partition, fact) in relay.recovered() {
      own.append(Waiting(partition: partition, fact: fact, origin: .none))
    }
    let outbox = PartitionID.all.flatMap { store.tables(of: $0).outbox }
    expect(outbox)
    forwarding.add(outbox)
  }

  private func expect(_ outbox: [OutboxRow]) {
    for row in outbox {
      let place = Place(partition: row.source, ordinal: row.key.serial.ordinal)
      forwards[place, default: (0, [])].left += 1
    }
  }

  /// Durable messages, on their way into their targets' journals.
  func deliverForwards() {
    for row in forwarding.take(for: relay) {
      let forwarded = Forwarded(
        source: row.source, serial: row.key.serial, message: row.message)
      own.append(
        Waiting(
          partition: row.key.target, fact: .forwarded(forwarded),
          origin: .forward(row.key, from: row.source)))
    }
  }

  /// Whether there is room for what a change leads to, beside what waits to be stepped.
  func hasRoom(for fact: Fact) -> Bool {
    let waiting = inbox.map(\.fact) + commit.map(\.row.fact)
    return relay.refusal(of: relay.need(of: [fact]), besides: relay.need(of: waiting)) == nil
  }

  /// Takes what waits into one commit, if none is under way.
  func startCommit(at now: Instant, last: (PartitionID) -> Ordinal) -> Bool {
    guard commit.isEmpty, !(inbox.isEmpty && own.isEmpty) else { return false }
    var next: [PartitionID: Ordinal] = [:]
    for item in own + inbox {
      let ordinal = (next[item.partition] ?? last(item.partition)).next
      next[item.partition] = ordinal
      let row = JournalEntry(
        partition: item.partition, ordinal: ordinal, at: now, fact: item.fact)
      commit.append(Placed(row: row, origin: item.origin))
    }
    (own, inbox) = ([], [])
    return true
  }

  /// The commit wrote nothing: what was ours waits on, the others are refused.
  func refuseCommit() -> [Int] {
    var refused: [Int] = []
    var kept: [Waiting] = []
    for placed in commit {
      if case .operation(let operation) = placed.origin {
        refused.append(operation)
      } else {
        kept.append(
          Waiting(partition: placed.row.partition, fact: placed.row.fact, origin: placed.origin))
      }
    }
    commit = []
    own = kept + own
    return refused
  }

  func startFold(at now: Instant) -> Bool {
    guard cut == nil, relay.isDirty else { return false }
    cut = relay.cut(at: now)
    (inCut, open) = (open, [])
    (readersInCut, readers) = (readersInCut + readers, [])
    (answersInCut, answers) = (answers, [])
    return true
  }

  /// The cut is durable, and the fold made these rows.
  ///
  /// - Returns: answers whose moment has come.
  func folded(_ rows: [OutboxRow], at now: Instant, into effects: inout [Effect]) -> [Due] {
    guard let cut else { return [] }
    self.cut = nil
    inCut = []
    let outbox = cut.partitions.flatMap(\.outbox) + rows
    expect(outbox)
    var due: [Due] = []
    for item in answersInCut {
      switch item.moment {
      case .caughtUp: late.append(item)
      case .settled where forwards[item.place] != nil: forwards[item.place]?.due.append(item)
      case .stepped, .folded, .settled: due.append(item)
      }
    }
    answersInCut = []
    due += caughtUp()
    forwarding.add(outbox)
    relay.folded(cut, at: now, into: &effects)
    return due
  }

  /// A row's target has stepped it.
  func delivered(_ key: OutboxRow.Key, from source: PartitionID) -> [Due] {
    relay.delivered(key, from: source)
    forwarding.delivered(key, from: source)
    let place = Place(partition: source, ordinal: key.serial.ordinal)
    guard var entry = forwards[place] else { return [] }
    entry.left -= 1
    forwards[place] = entry.left > 0 ? entry : nil
    return entry.left > 0 ? [] : entry.due + caughtUp()
  }

  private func caughtUp() -> [Due] {
    let (still, due) = late.reduce(into: ([Due](), [Due]())) { parts, item in
      let isWaiting = forwards.keys.contains {
        $0.partition == item.place.partition && $0.ordinal <= item.place.ordinal
      }
      if isWaiting { parts.0.append(item) } else { parts.1.append(item) }
    }
    late = still
    return due
  }

  func isDirty(_ place: ReadPlace) -> Bool { open.contains(place) || inCut.contains(place) }
}
