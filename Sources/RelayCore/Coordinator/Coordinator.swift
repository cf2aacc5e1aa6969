/// The relay's decisions: what forms a commit, when to fold and to trim, which messages move
/// between partitions, how wide changes are paced, what is answered and when, what is refused, and
/// what a stop still waits for. Exists once; the engine is its shell in the daemon, and a world of
/// virtual time in the simulation.
///
/// A turn takes what has happened and returns what is to be done, in order, in two halves: `handle`
/// and `proceed`. It neither waits nor reads a clock.
package struct Coordinator: ~Copyable {
  var relay: Relay
  var commit: GroupCommit
  var stepping: Stepping
  var schedule = FoldSchedule()
  var cutTurns = CutTurns()
  var answers = PendingAnswers()
  var requests = PendingRequests()
  var forwarding = Forwarding()
  var pacer: FanOutPacer
  var clock: RelayClock
  package internal(set) var counters = Counters()
  var settings: RelaySettings
  var pushes: PushesInFlight
  /// The cut under way, or the one that the store refused.
  var cut: Cut?
  var trims: TrimSchedule
  /// The newest time that is durable.
  var timeKept: Instant
  /// When a stop ends, whatever is under way; nil: the daemon shall not stop.
  var stopBy: Instant?
  /// A reader waits for a fold.
  var hasReaders = false
  /// What the shell is to do after this turn.
  var actions: [Action] = []
  var observation = Observation()

  /// What the store refused for now is tried again so much later.
  package static var retry: Span { FoldSchedule.retry }

  /// Rows removed by one trim, so that folds are never kept waiting for long.
  package static let trimRows = 1_000

  /// Goes on where the journal ends.
  ///
  /// - Parameter routes: those that have a sender.
  package init(
    _ replay: consuming JournalReplay, settings: RelaySettings, routes: Set<RouteKey>,
    at moment: Moment
  ) {
    commit = GroupCommit(last: replay.last, bounds: settings.work.commit)
    stepping = Stepping(workPerTurn: settings.work.workPerTurn)
    pacer = FanOutPacer(entriesMax: settings.work.entriesForSlices)
    clock = RelayClock(latest: replay.latest, wall: moment.wall, boot: moment.boot)
    // A replayed tail is folded first, however short the lives between crashes are.
    trims = TrimSchedule(first: replay.latest + settings.trimEvery)
    timeKept = replay.latest
    counters.unfolded = replay.replayed
    forwarding.add(replay.outbox)
    answers.recovered(replay.outbox)
    for place in replay.dirtied { actions.append(.dirtied(place)) }
    relay = replay.relay
    self.settings = settings
    pushes = PushesInFlight(routes: routes)
    if counters.unfolded > 0 { reach(.tailReplayed) }
    if !forwarding.isEmpty { reach(.outboxRecovered) }
    for (partition, fact) in relay.recovered() { journal(fact, in: partition) }
    // What an earlier life had on its way, such as an interest, comes before any new change.
    deliverForwards()
    commit.putFirst()
  }

  /// The first half of a turn: takes in what has happened, and hands the next commit to the
  /// journal, which writes it while the second half steps. Say `proceed` next, at the same moment.
  ///
  /// - Parameters:
  ///   - inputs: what has happened since the turn before, in order; requests first.
  ///   - hasReaders: whether a reader waits for a fold now.
  package mutating func handle(
    _ inputs: [Input], hasReaders: Bool, at moment: Moment
  ) -> [Action] {
    self.hasReaders = hasReaders
    let now = read(moment)
    var effects: [Effect] = []
    for input in inputs { handle(input, at: now, boot: moment.boot, &effects) }
    // A push of theirs is in flight before a step may recall it.
    perform(effects, at: now)
    startCommit(at: now)
    defer { actions = [] }
    return actions
  }

  /// The second half: steps what is durable, wakes devices, folds.
  ///
  /// - Parameter hasReaders: whether a reader waits for a fold now: the first half may have ended
  ///   one.
  package mutating func proceed(hasReaders: Bool, at moment: Moment) -> [Action] {
    self.hasReaders = hasReaders
    let now = clock.last
    step(at: now)
    deliverForwards()
    startCommit(at: now)
    var effects: [Effect] = []
    relay.wake(at: now, into: &effects)
    perform(effects, at: now)
    startSlice()
    // A tick that was asked for does not wait for the next turn.
    startCommit(at: now)
    let next = startFold(at: now)
    // What waited for a cut goes on.
    startCommit(at: now)
    giveUp(at: moment.boot)
    stopIfDone(at: now)
    actions.append(.timer(stepping.isReady ? .zero : timer(at: now, fold: next, moment.boot)))
    defer { actions = [] }
    return actions
  }

  /// How long nothing has to be done, if nothing happens.
  private func timer(at now: Instant, fold: Instant, _ boot: Instant) -> Span {
    // Beyond a stop's deadline only what is under way is waited for.
    let stop = stopBy.flatMap { now < $0 ? $0 : nil } ?? .never
    let next = min(fold, relay.nextTimer ?? .never, stop, commit.nextTry ?? .never)
    let deadline = requests.nextDeadline.map { $0 - boot } ?? .days(1)
    return max(.zero, min(next - now, deadline))
  }

  private mutating func handle(
    _ input: Input, at now: Instant, boot: Instant, _ effects: inout [Effect]
  ) {
    switch input {
    case .request(let id, let facts, let submitter):
      admit(facts, of: id, by: submitter, at: now, boot: boot)
    case .appended(.success): appended()
    case .appended(.failure(let error)): appendFailed(error, at: now)
    case .folded(.success(let rows)): folded(rows, at: now, &effects)
    case .folded(.failure(let error)): foldFailed(error, at: now)
    case .trimmed(let rows): trimmed(rows, at: now)
    case .verdict(let attempt, let verdict): ended(attempt, verdict, at: now, &effects)
    case .recalled(let place): for due in answers.recalled(place) { answer(due) }
    case .acknowledged(let reached, let device):
      relay.acknowledged(reached, by: device, at: now)
    case .connected(let device, let connection, let after):
      relay.connected(device, connection, after: after, at: now, into: &effects)
    case .left(let device, let connection, let isExpectedBack):
      relay.left(device, connection, isExpectedBack: isExpectedBack, at: now)
    case .reconfigured(let change): reconfigure(change, at: now)
    case .stop:
      guard stopBy == nil else { return }
      stopBy = now + settings.drainGrace
      relay.drain()
      actions.append(.event(.stopping(grace: settings.drainGrace)))
    }
  }

  var isStopping: Bool { stopBy != nil }

  private mutating func stopIfDone(at now: Instant) {
    guard let stopBy, !schedule.isRunning, !commit.isUnderWay else { return }
    let isAtRest =
      commit.isIdle && stepping.isEmpty && forwarding.isEmpty && pushes.isEmpty && !relay.isDirty
    guard isAtRest || now >= stopBy else { return }
    reach(isAtRest ? .stoppedAtRest : .stoppedAtDeadline)
    actions.append(.stopped)
  }

  private mutating func giveUp(at boot: Instant) {
    let before = actions.count
    requests.giveUp(
      until: boot, Unavailable(.storeSlow, retryAfterSeconds: 5), into: &actions)
    if actions.count > before { reach(.requestGivenUp) }
  }

  /// Nothing is under way, and nothing is done after this: the next life need not guess which wake
  /// numbers were given out, and knows the time. Without it, it goes on as after a crash.
  ///
  /// - Returns: what the store folds last; nil: facts wait to be stepped, or a fold failed.
  package mutating func lastCut(at moment: Moment) -> Cut? {
    guard cut == nil, stepping.isEmpty else {
      reach(.lastCutLeftOut)
      return nil
    }
    reach(.lastCutTaken)
    var last = relay.cut(at: read(moment))
    last.isLast = true
    return last
  }
}

extension Coordinator {
  /// Between two steps, so that no decision is made half by old rules and half by new ones.
  private mutating func reconfigure(_ change: Reconfiguration, at now: Instant) {
    settings.policy = change.settings.policy
    settings.tombstonesKept = change.settings.tombstonesKept
    settings.notificationsKept = change.settings.notificationsKept
    settings.feedbackKept = change.settings.feedbackKept
    settings.trimEvery = change.settings.trimEvery
    trims.reconfigured(every: settings.trimEvery, at: now)
    settings.drainGrace = change.settings.drainGrace
    relay.reconfigure(change.settings.policy, at: now)
    pushes.reconfigured(started: change.started, ended: change.ended)
    for route in change.ended.sorted() { relay.withdraw(route) }
    reach(.reconfigured)
    for route in change.started.sorted() { relay.renew(route, at: now) }
  }
}
