package import Logging
package import RelayCore
import Synchronization

/// The running relay: one loop owns the core, takes inputs, journals them first, steps them,
/// answers, folds, and wakes devices.
///
/// Call `run` once. The call returns after `stop`, or throws the error that prevents the engine
/// from continuing; in both cases nothing durable is lost.
package final class Engine: RelayService, Sendable {
  private let store: any Store
  private let dependencies: Dependencies
  private let settings: RelaySettings
  private let inbox: Inbox
  private let waitingReaders: WaitingReaders
  private let logger: Logger
  private let startedAt: Instant
  private let refusedChanges = Atomic(0)
  private let isStopping = Atomic(false)

  /// What the engine needs besides a store.
  package struct Dependencies: Sendable {
    package var clock: any ClockReader
    package var keys: any PushKeys
    package var senders: [RouteKey: any PushSender]
    package var courier: (any CourierConnections)?
    package var feedback: (any FeedbackObserver)?
    /// Takes the entries of what the relay decided, from which explanations are made.
    package var trace: TraceFeed?
    package var notifier: any ServiceNotifier
    /// Makes random ids for eras.
    package var random: @Sendable () -> UInt64

    package init(
      clock: any ClockReader, keys: any PushKeys, senders: [RouteKey: any PushSender],
      courier: (any CourierConnections)? = nil, feedback: (any FeedbackObserver)? = nil,
      trace: TraceFeed? = nil, notifier: any ServiceNotifier,
      random: @escaping @Sendable () -> UInt64
    ) {
      (self.clock, self.keys, self.random) = (clock, keys, random)
      (self.senders, self.courier, self.feedback) = (senders, courier, feedback)
      (self.trace, self.notifier) = (trace, notifier)
    }
  }

  package init(
    store: any Store, dependencies: Dependencies, settings: RelaySettings = RelaySettings(),
    logger: Logger
  ) {
    self.store = store
    self.dependencies = dependencies
    self.settings = settings
    self.logger = logger
    startedAt = dependencies.clock.boot()
    inbox = Inbox(
      factsMax: settings.inboxMax, bytesMax: settings.inboxBytesMax,
      connectionsMax: settings.limits.courierConnections)
    waitingReaders = WaitingReaders(
      readersMax: settings.readersMax, waitMax: settings.answerWithin)
  }

  /// Recovers, serves, and returns after `stop`. If the task is cancelled, the engine ends at once;
  /// all facts that the engine has answered are durable.
  ///
  /// - Parameters:
  ///   - commits: where the store's commits run, which may block a thread; `nil` means the threads
  ///     that all tasks share.
  ///   - folds: where the store's folds run; `nil` means the threads that all tasks share. Neither
  ///     executor may use the loop's thread: a busy loop leaves that thread to no other task.
  /// - Throws: `StoreError`. After `.unknown` it is unknown whether the last commit is durable; the
  ///   caller must end the process, and the next start finds out.
  package func run(
    commits: (any TaskExecutor)? = nil, folds: (any TaskExecutor)? = nil
  ) async throws {
    // Close on every exit, also when recovery fails, so that no caller waits for ever.
    defer { close() }
    try await withTaskCancellationHandler {
      try await work(
        commits: commits ?? globalConcurrentExecutor, folds: folds ?? globalConcurrentExecutor)
    } onCancel: {
      close()
    }
  }

  private func close() {
    inbox.close()
    waitingReaders.close()
  }

  private func work(
    commits commitThread: any TaskExecutor, folds foldThread: any TaskExecutor
  ) async throws {
    let eras = Dictionary(
      uniqueKeysWithValues: PartitionID.all.map { ($0, dependencies.random()) })
    guard let leases = try await claim(eras) else { return }
    // Each start raises the epochs of all partitions by one.
    if let epoch = leases.first?.epoch { dependencies.trace?.begin(life: epoch) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      let replay = try await Recovery(store: store).run(
        leases, settings: settings)
      let coordinator = Coordinator(
        replay, settings: settings, routes: Set(dependencies.senders.keys),
        at: dependencies.clock.moment)
      let (commits, nextCommit) = AsyncStream<[JournalEntry]>.makeStream()
      let (folds, nextFold) = AsyncStream<FoldJob>.makeStream()
      let (store, inbox) = (store, inbox)
      group.addTask(executorPreference: commitThread) {
        await EngineLoop.write(commits, to: store, leases, inbox)
      }
      group.addTask(executorPreference: foldThread) {
        await EngineLoop.write(folds, to: store, leases, inbox)
      }
      let senderGroup = SenderGroup()
      for (route, sender) in dependencies.senders { senderGroup.start(sender, on: route) }
      group.addTask(executorPreference: globalConcurrentExecutor) { await senderGroup.run() }
      var loop = EngineLoop(
        coordinator, dependencies: dependencies, senderGroup: senderGroup, inbox: inbox,
        waitingReaders: waitingReaders, commits: nextCommit, folds: nextFold, store: store,
        logger: logger)
      defer {
        loop.close()
        close()
        group.cancelAll()
      }
      try await loop.run()
      nextCommit.finish()
      nextFold.finish()
      await loop.writeLastCut(leases)
    }
  }

  /// Claims the partitions, which writes to the store. While the store is full, locked or
  /// unwritable, the engine tries again: to exit would not help, and systemd soon gives up on a
  /// daemon that does not start.
  ///
  /// - Returns: nil if `stop` was called meanwhile.
  private func claim(_ eras: [PartitionID: UInt64]) async throws -> [Lease]? {
    var told: StoreError?
    while true {
      do throws(StoreError) {
        let leases = try await store.claim(eras: eras)
        if told != nil { logger.notice("the store can be written again, recovery begins") }
        inbox.wait(because: nil)
        return leases
      } catch {
        guard error.isPassing else { throw error }
        let line = "the start waits for its store: \(error.message)"
        if told != error { logger.error("start waits", metadata: ["error": "\(error)"]) }
        told = error
        inbox.wait(because: line)
        dependencies.notifier.waiting(line)
      }
      try await Task.sleep(for: .milliseconds(Coordinator.retry.milliseconds))
      if isStopping.load(ordering: .relaxed) { return nil }
    }
  }

  /// Makes `run` return once nothing is under way, or once `RelaySettings.drainGrace` is over.
  package func stop() {
    isStopping.store(true, ordering: .relaxed)
    inbox.post(.input(.stop))
  }

  package func drain() {
    inbox.drain()
    for reason in Readiness.draining.reasons { dependencies.notifier.status(reason) }
  }

  /// Applies a reload between two turns and returns when it is in force. Attempts that began before
  /// the reload end with their old sender. The call does nothing once the engine has stopped.
  package func reconfigure(_ change: EngineReconfiguration) async {
    await answer { done in .reconfigure(change) { done(()) } }
  }

  /// Asks the loop, and returns its answer.
  private func answer<Answer: Sendable>(
    to event: (@escaping @Sendable (Answer) -> Void) -> Inbox.Event
  ) async -> Answer {
    await withCheckedContinuation { waiter in
      inbox.post(event { waiter.resume(returning: $0) })
    }
  }

  package func submit(
    _ facts: [Fact], by submitter: Submitter
  ) async throws(Unavailable) -> [Answer] {
    let inbox = inbox
    let result = await withCheckedContinuation {
      (waiter: CheckedContinuation<Result<[Answer], Unavailable>, Never>) in
      let submission = Inbox.Submission(facts: facts, by: submitter) {
        waiter.resume(returning: $0)
      }
      if let refusal = inbox.offer(submission) { waiter.resume(returning: .failure(refusal)) }
    }
    return try result.get()
  }

  package func known(_ changes: [Change]) async throws(Unavailable) -> [Bool] {
    if inbox.isRecovering { throw .recovering }
    let known = await answer { .asked(changes, $0) }
    guard known.count == changes.count else { throw .draining }
    return known
  }

  package func visible(_ places: [ReadTarget], until: Instant) async throws(Unavailable) {
    let inbox = inbox
    let seen = await waitingReaders.wait(
      for: places, until: until, at: dependencies.clock.boot()
    ) { inbox.post(.readerWaits) }
    if case .refused(let cause) = seen { throw cause }
  }

  /// How many readers wait for a fold.
  var waiting: Int { waitingReaders.readers }

  package func served(_ reading: Reading) {
    let reached: Acknowledged =
      switch reading.reached {
      case .notifications(let position): .notifications(position, reading.proof)
      case .zone(let zone, let database, let position):
        .zone(zone, database, position, reading.proof)
      case .listed(let zones, let database): .listed(zones, database)
      }
    inbox.post(.input(.acknowledged(reached, reading.device)))
  }

  package func acknowledged(wake: UInt32, by device: DeviceKey) {
    inbox.post(.input(.acknowledged(.wake(wake), device)))
  }

  package func connected(_ device: DeviceKey, connection: UInt64, after: UInt32?) -> Bool {
    inbox.post(.input(.connected(device, connection, after: after)))
  }

  package func left(_ device: DeviceKey, connection: UInt64, isExpectedBack: Bool) {
    inbox.post(.input(.left(device, connection, isExpectedBack: isExpectedBack)))
  }

  package func standings(
    of devices: [DeviceKey], zones: [ZoneID]
  ) async throws(Unavailable) -> Standings {
    if inbox.isRecovering { throw .recovering }
    let standings = await answer { .standings(devices, zones, $0) }
    guard let standings else { throw .draining }
    return standings
  }

  package func refused(changes: Int) {
    refusedChanges.wrappingAdd(changes, ordering: .relaxed)
  }

  package var readiness: Readiness { inbox.readiness }

  package func health() async -> HealthSnapshot {
    // The loop answers questions only after recovery, so until then the answer is made here.
    var health: HealthSnapshot
    if inbox.isRecovering {
      health = HealthSnapshot(notReady: inbox.readiness)
      health.add(dependencies.senders.mapValues(\.health), configured: dependencies.senders.keys)
    } else {
      health = await answer { .health($0) }
    }
    health.uptime = Double((dependencies.clock.boot() - startedAt).milliseconds) / 1_000
    health.changes.rejected += Int64(refusedChanges.load(ordering: .relaxed))
    do throws(StoreError) {
      let store = try await store.health()
      health.store.engine = store.engine
      health.store.bytes = store.bytes
    } catch {
      health.reasons.append("the store cannot be read: \(error.message)")
    }
    return health
  }
}
