import RelayCore

/// One life of the daemon: the shipped coordinator and the state of its shell. A crash loses all of
/// this state. The shell decides nothing.
final class SimulatedDaemon {
  /// Requests for the next turn.
  private var requests: [Coordinator.Input] = []
  private var events: [Coordinator.Input] = []
  var hasInputs: Bool { !requests.isEmpty || !events.isEmpty }
  var barrier = ReadBarrier<Reader>(readersMax: .max, waitMax: .days(1))
  /// The commit that the store has not answered yet.
  var appending: [JournalEntry] = []
  var folding: Cut?
  var admission: Admission
  /// The routes with a sender. The engine changes its senders before the coordinator's turn.
  private(set) var routes: Set<RouteKey>
  /// The room of each request that was admitted and is not answered yet.
  private var rooms: [RequestID: Admission.Room] = [:]
  var armed = Instant.never
  private(set) var coordinator: Coordinator
  /// For each request that waits for its answer: the number of the operation that made it.
  private(set) var operations: [RequestID: Int] = [:]
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

  /// - Parameters:
  ///   - forgetsTime: whether the start reads no durable time; for a mutant.
  ///   - isUnbounded: whether the inbox has no bounds; for a mutant.
  init(
    store: SimulatedStore, settings: RelaySettings, routes: Set<RouteKey>,
    at moment: Coordinator.Moment, forgetsTime: Bool = false, isUnbounded: Bool = false
  ) {
    admission = Admission(
      bounds: isUnbounded
        ? Admission.Room(facts: .max, bytes: .max)
        : Admission.Room(facts: settings.inboxMax, bytes: settings.inboxBytesMax))
    self.routes = routes
    var tables = PartitionID.all.map { store.tables(of: $0) }
    if forgetsTime { for index in tables.indices { tables[index].time = .zero } }
    var replay = JournalReplay(tables, eras: store.lives, settings: settings)
    for id in PartitionID.all { replay.replay(store.journal(of: id)) }
    coordinator = Coordinator(replay, settings: settings, routes: routes, at: moment)
    let steps = steps
    coordinator.observer = { steps.all.append($0) }
  }

  func add(_ input: Coordinator.Input) {
    if admission.admits(input) { events.append(input) }
  }

  /// Submits a fact that no client sends, outside the bounds of `Admission`. In the daemon such a
  /// fact counts, too, and may be refused.
  func submit(_ fact: Fact) { _ = submit([fact], by: .relay) }

  private func submit(_ facts: [Fact], by submitter: Submitter) -> RequestID {
    lastRequest += 1
    let id = RequestID(lastRequest)
    requests.append(.request(id, facts, by: submitter))
    return id
  }

  /// Submits an operation's request if `admission` lets it in; the relay's `Inbox` does the same.
  ///
  /// - Parameter isTorn: whether each fact becomes a request of its own; for a mutant.
  /// - Returns: false if the request is refused.
  func offer(
    _ facts: [Fact], by submitter: Submitter, for operation: Int, isTorn: Bool = false
  ) -> Bool {
    let room = Admission.Room(of: facts)
    guard admission.offer(room) == nil else { return false }
    if isTorn { for fact in facts.dropFirst() { submit(fact) } }
    let id = submit(isTorn ? [facts[0]] : facts, by: submitter)
    (operations[id], rooms[id]) = (operation, room)
    return true
  }

  /// Whether the inbox holds more than its bounds allow. One request may exceed them alone.
  func isOverBounds(_ settings: RelaySettings) -> Bool {
    let taken = admission.taken
    return rooms.count > 1
      && (taken.facts > settings.inboxMax || taken.bytes > settings.inboxBytesMax)
  }

  /// Runs the first half of a turn.
  func handle(at moment: Coordinator.Moment) -> [Coordinator.Action] {
    // Requests come first in a turn.
    let inputs = requests + events
    (requests, events) = ([], [])
    admission.emptied()
    for case .reconfigured(let change) in inputs {
      routes = routes.subtracting(change.ended).union(change.started)
    }
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

  func release(_ request: RequestID) {
    operations[request] = nil
    if let room = rooms.removeValue(forKey: request) { admission.release(room) }
  }

  /// - Returns: false if an earlier timer is armed.
  func arm(at due: Instant) -> Bool {
    guard due < armed else { return false }
    armed = due
    return true
  }

  var isAtRest: Bool { coordinator.isAtRest && barrier.readers == 0 && appending.isEmpty }

  func begin() {
    admission.begin()
    barrier.begin()
  }

  func read(_ reader: Reader) -> ReadOutcome? {
    barrier.read([.feed(reader.query.feed)], until: .never, at: .zero, reader)
  }
}
