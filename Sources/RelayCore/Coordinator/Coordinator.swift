/// The relay's decisions: what forms a commit, when to fold and to trim, which messages move
/// between partitions, how wide changes are paced, what is answered and when, what is refused, and
/// what a stop still waits for. One instance exists. Its shell is the engine in the daemon, and a
/// world of virtual time in the simulation.
///
/// A turn takes what has happened and returns actions in order, in two halves: `handle` and
/// `proceed`. The coordinator neither waits nor reads a clock.
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
  /// The deadline of a stop; `nil` means that the daemon is not stopping.
  var stopBy: Instant?
  /// Whether a reader waits for a fold.
  var hasReaders = false
  /// The actions of this half of the turn.
  var actions: [Action] = []
  var observation = Observation()

  /// How long after a refusal the store is tried again.
  package static var retry: Span { FoldSchedule.retry }

  /// The most rows that one trim removes, so that folds never wait for long.
  package static let trimRows = 1_000

  /// Creates a coordinator that continues where the journal ends.
  ///
  /// - Parameter routes: routes that have a sender.
  package init(
    _ replay: consuming JournalReplay, settings: RelaySettings, routes: Set<RouteKey>,
    at moment: Moment
  ) {
    commit = GroupCommit(last: replay.last, bounds: settings.work.commit)
    stepping = Stepping(workPerTurn: settings.work.workPerTurn)
    pacer = FanOutPacer(entriesMax: settings.work.entriesForSlices)
    clock = RelayClock(latest: replay.latest, wall: moment.wall, boot: moment.boot)
    // The first fold comes before the first trim, so that a replayed tail is folded even if the
    // process keeps crashing soon.
    trims = TrimSchedule(first: replay.latest + settings.trimEvery)
    timeKept = replay.latest
    counters.unfolded = replay.replayed
    forwarding.add(replay.outbox)
    answers.recovered(replay.outbox)
    for place in replay.dirtied { actions.append(.dirtied(place)) }
    let trace = replay.trace
    if !trace.isEmpty { actions.append(.trace(trace)) }
    relay = replay.relay
    self.settings = settings
    pushes = PushesInFlight(routes: routes)
    if counters.unfolded > 0 { reach(.tailReplayed) }
    if !forwarding.isEmpty { reach(.outboxRecovered) }
    for (partition, fact) in relay.recovered() { journal(fact, in: partition) }
    // Messages of an earlier life, such as an interest, come before any new change.
    deliverForwards()
    commit.putFirst()
  }

  /// The first half of a turn: handles inputs, and hands the next commit to the journal, which
  /// writes the commit while the second half steps facts. The shell then calls `proceed` with the
  /// same moment.
  ///
  /// - Parameters:
  ///   - inputs: what has happened since the last turn, in order; requests first.
  ///   - hasReaders: whether a reader waits for a fold now.
  package mutating func handle(
    _ inputs: [Input], hasReaders: Bool, at moment: Moment
  ) -> [Action] {
    self.hasReaders = hasReaders
    let now = read(moment)
    var effects: [Effect] = []
    for input in inputs { handle(input, at: now, boot: moment.boot, &effects) }
    // The pushes of these effects must be in flight before a step may recall them.
    perform(effects, at: now)
    startCommit(at: now)
    recordTrace()
    defer { actions = [] }
    return actions
  }

  /// The second half: steps durable facts, wakes devices, folds.
  ///
  /// - Parameter hasReaders: whether a reader waits for a fold now; the first half may have served
  ///   the readers that waited.
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
    // A tick that `wake` asked for, or a slice, is journalled in this turn, and not in the next.
    startCommit(at: now)
    let next = startFold(at: now)
    // Facts that waited for a cut may be committed now.
    startCommit(at: now)
    giveUp(at: moment.boot)
    stopIfDone(at: now)
    recordTrace()
    actions.append(.timer(stepping.isReady ? .zero : timer(at: now, fold: next, moment.boot)))
    defer { actions = [] }
    return actions
  }

  /// Hands the entries of this half of the turn to the flight recorder.
  private mutating func recordTrace() {
    let batches = relay.takeTrace()
    if !batches.isEmpty { actions.append(.trace(batches)) }
  }

  /// Reads the relay's time. The coordinator reports to operators once when the wall clock is far
  /// ahead, and once when that ends.
  private mutating func read(_ moment: Moment) -> Instant {
    let reading = clock.read(wall: moment.wall, boot: moment.boot)
    relay.wallAhead = clock.wallAhead
    switch reading {
    case .steady: return reading.instant
    case .jumped: reach(.clockJumped)
    case .believed: reach(.clockBelieved)
    case .corrected: reach(.clockCorrected)
    }
    actions.append(.event(.clock(reading)))
    return reading.instant
  }

  /// How long the shell may wait if no input comes.
  private func timer(at now: Instant, fold: Instant, _ boot: Instant) -> Span {
    // After a stop's deadline the coordinator waits only for work under way.
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

  /// Takes the last cut, while nothing is under way; the coordinator does nothing after this cut.
  /// This cut tells the next start the exact time of the stop and which wake numbers were used.
  /// Without the last cut, the next start is like a start after a crash.
  ///
  /// - Returns: the cut for the last fold; `nil` means that facts wait to be stepped, or that a
  ///   fold failed.
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
  /// Applies a reload between two steps, so that each decision uses either only old or only new
  /// rules.
  private mutating func reconfigure(_ change: Reconfiguration, at now: Instant) {
    settings.tombstonesKept = change.settings.tombstonesKept
    settings.notificationsKept = change.settings.notificationsKept
    settings.feedbackKept = change.settings.feedbackKept
    settings.trimEvery = change.settings.trimEvery
    trims.reconfigured(every: settings.trimEvery, at: now)
    settings.drainGrace = change.settings.drainGrace
    relay.reconfigure(change.settings.policy, at: now)
    pushes.reconfigured(started: change.started, ended: change.ended)
    for route in change.ended.sorted() { relay.withdraw(route, at: now) }
    reach(.reconfigured)
    for route in change.started.sorted() { relay.renew(route, at: now) }
  }
}
