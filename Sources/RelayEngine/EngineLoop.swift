import Logging
import OrderedCollections
import RelayCore

/// The loop: takes what came in, starts a commit, steps what is durable, performs effects, folds.
/// It decides nothing of its own; the core, the commit, the schedule and the settling do.
struct EngineLoop: ~Copyable {
  var relay: Relay
  var commit: GroupCommit
  var stepping = Stepping()
  var schedule = FoldSchedule()
  var cutTurns = CutTurns()
  var settling = Settling()
  var forwarding = Forwarding()
  var slices = Slices()
  var clock: RelayClock
  var desk = Desk()
  var tally = Tally()
  var cut: Cut?
  var isStopping = false
  var stopBy = Instant.never
  /// Pushes in flight.
  var handovers: [PushAttempt.ID: Handover] = [:]
  var nextTrim: Instant
  /// The newest time that is durable.
  var timeKept: Instant
  /// The folding worker's last job was a trim.
  var hasTrimmed = false

  var settings: EngineSettings
  var outside: Engine.Outside
  let crew: SenderCrew
  let inbox: Inbox
  let visibility: Visibility
  let commits: StoreWorker<[JournalEntry], Void>
  let folds: StoreWorker<FoldJob, FoldResult>
  let store: any Store
  let logger: Logger
  let startedAt: Instant

  init(
    recovered: consuming Recovery.Recovered, settings: EngineSettings, outside: Engine.Outside,
    crew: SenderCrew, inbox: Inbox, visibility: Visibility,
    commits: StoreWorker<[JournalEntry], Void>,
    folds: StoreWorker<FoldJob, FoldResult>, store: any Store, logger: Logger
  ) {
    commit = GroupCommit(last: recovered.last)
    clock = RelayClock(
      latest: recovered.latest, wall: outside.clock.wall(), boot: outside.clock.boot())
    startedAt = outside.clock.boot()
    // A replayed tail is folded first, however short the lives between crashes are.
    nextTrim = recovered.latest + settings.trimEvery
    timeKept = recovered.latest
    tally.unfolded = recovered.replayed
    forwarding.add(recovered.outbox)
    settling.recovered(recovered.outbox)
    visibility.dirtied(recovered.dirtied)
    relay = recovered.relay
    let unfinished = relay.recovered()
    self.settings = settings
    self.outside = outside
    self.crew = crew
    self.inbox = inbox
    self.visibility = visibility
    self.commits = commits
    self.folds = folds
    self.store = store
    self.logger = logger
    for (partition, fact) in unfinished { journal(fact, in: partition) }
  }

  /// - Returns: true if it was told to stop, and nothing is under way any more.
  mutating func run() async throws -> Bool {
    let inbox = inbox
    let alarm = Alarm { inbox.post(.timer) }
    defer { alarm.cancel() }
    outside.supervisor.ready()
    // What an earlier life had on its way, such as an interest, comes before any new change.
    deliverForwards()
    commit.putFirst()
    inbox.begin()
    visibility.begin()
    inbox.post(.timer)
    while !Task.isCancelled {
      let batch = await inbox.take()
      let now = readClock()
      var effects: [Effect] = []
      for submission in batch.submissions { admit(submission, at: now) }
      for event in batch.events { try handle(event, at: now, &effects) }
      step(at: now)
      deliverForwards()
      startCommit(at: now)
      relay.wake(at: now, into: &effects)
      perform(effects, at: now)
      startSlice()
      // A tick that was asked for does not wait for the next happening.
      startCommit(at: now)
      let next = startFold(at: now)
      // Those who waited for a cut go on.
      startCommit(at: now)
      outside.supervisor.beat()
      tellTheLate()
      if isStopping, isDone(at: now) { return true }
      if stepping.isReady { inbox.post(.timer) }
      let timer = min(next, relay.nextTimer ?? .never, isStopping ? stopBy : .never)
      alarm.set(in: min(outside.supervisor.beatEvery, max(.zero, timer - now)))
    }
    return false
  }

  private mutating func handle(
    _ event: Inbox.Event, at now: Instant, _ effects: inout [Effect]
  ) throws {
    switch event {
    case .committed(.success):
      if cut == nil { tally.storeWorks() }
      let durable = commit.committed()
      tally.unfolded += durable.reduce(0) { $0 + $1.facts.count }
      stepping.add(durable)
    case .committed(.failure(let error)): try commitFailed(error, at: now)
    case .folded(.success(let rows)): folded(rows, at: now, &effects)
    case .folded(.failure(let error)): try foldFailed(error, at: now)
    case .trimmed(let result): trimmed(result, at: now)
    case .takenBack(let place):
      for due in settling.takenBack(place) { answer(due) }
    case .verdict(let attempt, let verdict):
      handovers.removeValue(forKey: attempt.id)?.ended()
      log(verdict, of: attempt)
      relay.attemptEnded(attempt, inRelayTime(verdict), at: now, into: &effects)
    case .acknowledged(let reached, let device):
      relay.acknowledged(reached, by: device, at: now)
    case .connected(let device, let connection, let after):
      relay.connected(device, connection, after: after, at: now, into: &effects)
    case .left(let device, let connection, let isExpectedBack):
      relay.left(device, connection, isExpectedBack: isExpectedBack, at: now)
    case .readerWaits, .timer: break
    case .asked(let changes, let answer): answer(changes.map { relay.knows($0) })
    case .vitals(let answer): answer(vitals(at: now))
    case .adopt(let adoption, let done):
      adopt(adoption, at: now)
      done()
    case .stop:
      isStopping = true
      stopBy = now + settings.drainGrace
      relay.drain()
      outside.supervisor.stopping(grace: settings.drainGrace)
    }
  }

  /// - Returns: when there is something to fold, if not now.
  private mutating func startFold(at now: Instant) -> Instant {
    let next = schedule.next(
      at: now, isDirty: isFoldDue(at: now), isAwaited: isFoldAwaited || relay.isAwaitingFold)
    switch next {
    case .nothing:
      return .never
    case .wait(let until):
      return until
    case .again:
      if let cut { folds.start(.fold(cut)) }
      return .never
    case .cut:
      // A backlog to trim takes turns with folds: readers and answers wait for these.
      if now >= nextTrim, !isStopping, !hasTrimmed {
        hasTrimmed = true
        nextTrim = now + settings.trimEvery
        folds.start(
          .trim(
            tombstones: now - settings.tombstonesKept,
            notifications: now - settings.notificationsKept,
            feedback: now - settings.feedbackKept))
        return .never
      }
      hasTrimmed = false
      let left = leftOut()
      let cut = relay.cut(at: now, without: left)
      self.cut = cut
      tally.inCut = tally.unfolded - stepping.cut(without: left)
      visibility.cut(without: left)
      settling.cut(without: left)
      commit.cut()
      folds.start(.fold(cut))
      return .never
    }
  }

  private func isDone(at now: Instant) -> Bool {
    if schedule.isRunning || commit.isUnderWay { return false }
    if now >= stopBy { return true }
    return commit.isIdle && stepping.isEmpty && forwarding.isEmpty && handovers.isEmpty
      && !relay.isDirty
  }
}
