import RelayCore

/// One life of the daemon: the shipped coordinator and the state of its shell. A crash loses all of
/// this state. The shell decides nothing.
final class SimulatedDaemon {
  let life: Int
  /// Requests for the next turn.
  private var requests: [Coordinator.Input] = []
  private var events: [Coordinator.Input] = []
  var hasInputs: Bool { !requests.isEmpty || !events.isEmpty }
  private(set) var barrier = ReadBarrier<Reader>(readersMax: .max)
  /// The commit that the store has not answered yet.
  var appending: [JournalEntry] = []
  var folding: Cut?
  /// How many requests were taken and not answered; the inbox's bound counts these.
  private(set) var taken = 0
  private(set) var refusal: Unavailable.Cause?
  var armed = Instant.never
  private var coordinator: Coordinator
  private var operations: [RequestID: Int] = [:]
  private var lastRequest: UInt64 = 0
  private let steps = Steps()

  /// The steps that the coordinator reports to its observer.
  private final class Steps {
    var all: [Coordinator.Step] = []
  }

  /// A read that waits for the fold.
  struct Reader: Sendable {
    var client: Int
    var query: PageQuery
    /// The client's token at the request. The client drops the answer if its token has changed.
    var token: [UInt8]?
    /// The position that the answer must at least reach, because a change at this position was
    /// accepted before the read began.
    var atLeast: Position
    var wasRevoked: Bool
    var wasGranted: Bool
    /// How many grants, revocations and deletions of the zone there were when the read began.
    var turns: Int
  }

  /// - Parameter forgetsTime: whether the start reads no durable time; for a mutant.
  init(
    life: Int, store: SimulatedStore, settings: RelaySettings, routes: Set<RouteKey>,
    at moment: Coordinator.Moment, forgetsTime: Bool = false
  ) {
    self.life = life
    var tables = PartitionID.all.map { store.tables(of: $0) }
    if forgetsTime { for index in tables.indices { tables[index].time = .zero } }
    var replay = JournalReplay(tables, eras: store.lives, settings: settings)
    for id in PartitionID.all { replay.replay(store.journal(of: id)) }
    coordinator = Coordinator(replay, settings: settings, routes: routes, at: moment)
    let steps = steps
    coordinator.observer = { steps.all.append($0) }
  }

  func add(_ input: Coordinator.Input) { events.append(input) }

  /// Submits a fact of the relay's own; the inbox does not count it.
  func submit(_ fact: Fact) { submit([fact], by: .relay) }

  /// - Parameter operation: the operation that waits for the answer.
  func submit(_ facts: [Fact], by submitter: Submitter, for operation: Int? = nil) {
    lastRequest += 1
    let id = RequestID(lastRequest)
    if let operation {
      operations[id] = operation
      taken += 1
    }
    requests.append(.request(id, facts, by: submitter))
  }

  /// Runs the first half of a turn.
  func handle(at moment: Coordinator.Moment) -> [Coordinator.Action] {
    // Requests come first in a turn.
    let inputs = requests + events
    (requests, events) = ([], [])
    return coordinator.handle(inputs, hasReaders: barrier.readers > 0, at: moment)
  }

  /// Runs the second half of a turn.
  ///
  /// - Returns: the actions and the steps of this half.
  func proceed(at moment: Coordinator.Moment) -> ([Coordinator.Action], [Coordinator.Step]) {
    defer { steps.all = [] }
    let actions = coordinator.proceed(hasReaders: barrier.readers > 0, at: moment)
    return (actions, steps.all)
  }

  /// - Returns: the operation that waits for the answer.
  func operation(of request: RequestID) -> Int? { operations[request] }

  func release(_ request: RequestID) {
    if operations.removeValue(forKey: request) != nil { taken -= 1 }
  }

  func admit(_ refusal: Unavailable.Cause?) { self.refusal = refusal }

  func lastCut(at moment: Coordinator.Moment) -> Cut? { coordinator.lastCut(at: moment) }

  var reached: Branches { coordinator.reached }
  func stepped(in partition: PartitionID) -> Ordinal { coordinator.stepped(in: partition) }
  func ledger(of partition: PartitionID) -> Ledger { coordinator.ledger(of: partition) }
  var isAtRest: Bool { coordinator.isAtRest && barrier.readers == 0 && appending.isEmpty }
}

/// The read barrier, called as the real shell calls it.
extension SimulatedDaemon {
  func begin() { barrier.begin() }

  func read(_ reader: Reader) -> ReadOutcome? {
    barrier.read([.feed(reader.query.feed)], until: .never, reader)
  }

  func dirtied(_ place: ReadTarget) { barrier.dirtied(place) }
  func cut(without others: Set<PartitionID>) { barrier.cut(without: others) }
  func folded() -> [Reader] { barrier.folded() }
  func refused(_ cause: Unavailable.Cause) -> [Reader] { barrier.refused(cause) }
}
