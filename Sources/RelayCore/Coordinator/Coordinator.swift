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
    // process crashes soon after every start.
    trims = TrimSchedule(first: replay.latest + settings.trimEvery)
    timeKept = replay.latest
    (counters.unfolded, counters.lastFold) = (replay.replayed, replay.latest)
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

  /// Hands the entries of this half of the turn to the flight recorder.
  mutating func recordTrace() {
    let batches = relay.takeTrace()
    if !batches.isEmpty { actions.append(.trace(batches)) }
  }

  /// Reads the relay's time. The coordinator reports to operators once when the wall clock is far
  /// ahead, and once when that ends.
  mutating func read(_ moment: Moment) -> Instant {
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
  func timer(at now: Instant, fold: Instant, _ boot: Instant) -> Span {
    // After a stop's deadline the coordinator waits only for work under way.
    let stop = stopBy.flatMap { now < $0 ? $0 : nil } ?? .never
    let next = min(fold, relay.nextTimer ?? .never, stop, commit.nextTry ?? .never)
    let deadline = requests.nextDeadline.map { $0 - boot } ?? .days(1)
    return max(.zero, min(next - now, deadline))
  }

  var isStopping: Bool { stopBy != nil }

  mutating func stopIfDone(at now: Instant) {
    guard let stopBy, !schedule.isRunning, !commit.isUnderWay else { return }
    let isAtRest =
      commit.isIdle && stepping.isEmpty && forwarding.isEmpty && pushes.isEmpty && !relay.isDirty
    guard isAtRest || now >= stopBy else { return }
    reach(isAtRest ? .stoppedAtRest : .stoppedAtDeadline)
    actions.append(.stopped(last: lastCut(at: now)))
  }

  mutating func giveUp(at boot: Instant) {
    let before = actions.count
    requests.giveUp(until: boot, .storeSlow, into: &actions)
    if actions.count > before { reach(.requestGivenUp) }
  }

  /// Takes the last cut. This cut tells the next start the exact time of the stop and which wake
  /// numbers were used. Without the last cut, the next start is like a start after a crash.
  private mutating func lastCut(at now: Instant) -> Cut? {
    guard cut == nil, stepping.isEmpty else {
      reach(.lastCutLeftOut)
      return nil
    }
    reach(.lastCutTaken)
    var last = relay.cut(at: now)
    last.isLast = true
    return last
  }
}

extension Coordinator {
  /// Applies a reload between two steps, so that each decision uses either only old or only new
  /// rules.
  mutating func reconfigure(_ change: Reconfiguration, at now: Instant) {
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
