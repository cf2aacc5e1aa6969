import Logging
import RelayCore

/// Runs the coordinator: takes inputs, reads the clocks, lets the coordinator decide a turn, and
/// performs its actions in their order.
struct EngineLoop: ~Copyable {
  var coordinator: Coordinator
  /// For each request under way: its room in the inbox, and the caller that waits for the answers.
  var requests: [RequestID: WaitingRequest] = [:]
  private var lastRequest: UInt64 = 0
  /// Pushes that have no verdict yet.
  var handovers: [PushAttempt.ID: Handover] = [:]
  /// Whether the coordinator has stopped.
  private(set) var isStopped = false
  /// The last cut, which the coordinator took when it stopped; `nil` before, and if it took none.
  private(set) var lastCut: Cut?
  /// How long the loop waits at most for the next turn.
  private var wait = Span.zero

  var dependencies: Engine.Dependencies
  let senderGroup: SenderGroup
  let inbox: Inbox
  let waitingReaders: WaitingReaders
  /// The streams from which the store's tasks take commits (`commits`), and folds and trims
  /// (`folds`). The coordinator has at most one item of each stream under way, so no work waits in
  /// a stream.
  let commits: AsyncStream<[JournalEntry]>.Continuation
  let folds: AsyncStream<FoldJob>.Continuation
  let store: any Store
  let logger: Logger

  /// The part of a request that the coordinator does not need.
  struct WaitingRequest {
    var room: Admission.Room
    /// The function that answers the request; `nil` once it was called.
    var answer: (@Sendable (Result<[Answer], Unavailable>) -> Void)?
  }

  init(
    _ coordinator: consuming Coordinator, dependencies: Engine.Dependencies,
    senderGroup: SenderGroup, inbox: Inbox, waitingReaders: WaitingReaders,
    commits: AsyncStream<[JournalEntry]>.Continuation, folds: AsyncStream<FoldJob>.Continuation,
    store: any Store, logger: Logger
  ) {
    self.coordinator = coordinator
    (self.dependencies, self.senderGroup, self.logger) = (dependencies, senderGroup, logger)
    (self.inbox, self.waitingReaders) = (inbox, waitingReaders)
    (self.commits, self.folds, self.store) = (commits, folds, store)
  }

  /// Returns when the coordinator has stopped, or when the task is cancelled.
  mutating func run() async throws {
    // Recovery may have read facts that no fold has stored yet. The first turn notes them before
    // any reader is served.
    try turn(Inbox.Batch())
    inbox.begin()
    waitingReaders.begin()
    dependencies.notifier.ready()
    while !Task.isCancelled, !isStopped {
      let batch = await inbox.take(within: min(dependencies.notifier.beatEvery, wait))
      try turn(batch)
      dependencies.notifier.beat()
      waitingReaders.expire(at: dependencies.clock.boot())
    }
  }

  private mutating func turn(_ batch: Inbox.Batch) throws {
    do {
      try turn(inputs(of: batch))
    } catch {
      // The daemon ends. No other code would answer these events.
      for event in batch.events { event.answerLate() }
      throw error
    }
    // Answer after the turn: an answer may reveal a fact that is not folded yet. The turn has
    // marked the feeds and lists that such a fact changes, so that their readers wait for the fold.
    for event in batch.events { answer(event) }
  }

  /// Lets the coordinator decide the first half of a turn and performs the actions of that half,
  /// then does the same for the second half.
  private mutating func turn(_ inputs: [Coordinator.Input]) throws {
    let moment = dependencies.clock.moment
    let begun = coordinator.handle(inputs, hasReaders: waitingReaders.hasReaders, at: moment)
    for action in begun { try perform(action) }
    dependencies.notifier.beat()
    let done = coordinator.proceed(hasReaders: waitingReaders.hasReaders, at: moment)
    for action in done { try perform(action) }
  }

  private mutating func inputs(of batch: Inbox.Batch) -> [Coordinator.Input] {
    var inputs: [Coordinator.Input] = []
    inputs.reserveCapacity(batch.submissions.count + batch.events.count)
    for submission in batch.submissions {
      lastRequest += 1
      let id = RequestID(lastRequest)
      requests[id] = WaitingRequest(room: submission.room, answer: submission.answer)
      inputs.append(.request(id, submission.facts, by: submission.submitter))
    }
    for event in batch.events {
      switch event {
      case .input(let input):
        if case .verdict(let attempt, _) = input {
          handovers.removeValue(forKey: attempt.id)?.ended()
        }
        inputs.append(input)
      case .reconfigure(let change, _):
        reconfigure(change)
        inputs.append(
          .reconfigured(
            Coordinator.Reconfiguration(
              settings: change.settings, started: Set(change.started.keys),
              ended: Set(change.ended))))
      case .readerWaits, .asked, .health, .standings: break
      }
    }
    return inputs
  }

  /// Answers an event that asks for the relay's state, with the state at the end of this turn.
  private mutating func answer(_ event: Inbox.Event) {
    switch event {
    case .asked(let changes, let answer): answer(changes.map { coordinator.knows($0) })
    case .health(let answer): answer(health())
    case .standings(let devices, let zones, let answer): answer(standings(of: devices, zones))
    case .reconfigure(_, let done): done()
    case .input, .readerWaits: break
    }
  }

  private mutating func reconfigure(_ change: EngineReconfiguration) {
    for route in change.ended.sorted() {
      dependencies.senders[route] = nil
      senderGroup.dismiss(from: route)
    }
    for (route, sender) in change.started.sorted(by: { $0.key < $1.key }) {
      dependencies.senders[route] = sender
      senderGroup.start(sender, on: route)
    }
  }

  private mutating func perform(_ action: Coordinator.Action) throws {
    switch action {
    case .append(let entries): commits.yield(entries)
    case .fold(let cut): folds.yield(.fold(cut))
    case .trim(let tombstones, let notifications, let feedback):
      folds.yield(
        .trim(tombstones: tombstones, notifications: notifications, feedback: feedback))
    case .push(let attempt): push(attempt)
    case .recall(let attempt, let place): recall(attempt, for: place)
    case .hangUp(let device): dependencies.courier?.hangUp(device)
    case .answer(let request, let result): requests[request]?.answer.take()?(result)
    case .release(let request):
      if let room = requests.removeValue(forKey: request)?.room { inbox.release(room) }
    case .admission(let refusal): inbox.refuseUnlessDraining(refusal)
    case .dirtied(let place): waitingReaders.dirtied(place)
    case .cut(let others): waitingReaders.cut(without: others)
    case .visible: waitingReaders.folded()
    case .unreadable(let cause): waitingReaders.refused(cause)
    case .feedback(let scopes): dependencies.feedback?.feedbackChanged(scopes)
    case .event(let event): tell(event)
    case .trace(let batches): dependencies.trace?.record(batches)
    case .timer(let span): wait = span
    case .stopped(let last): (isStopped, lastCut) = (true, last)
    case .failed(let error, let failure):
      tell(failure, error)
      throw error
    }
  }

  private mutating func push(_ attempt: PushAttempt) {
    let inbox = inbox
    let handover = Handover()
    handovers[attempt.id] = handover
    if attempt.route.transport == .courier {
      guard let courier = dependencies.courier else {
        preconditionFailure("the coordinator tells no device over a courier that is not there")
      }
      // The courier writes the push at once to the connected device.
      _ = handover.begin()
      return courier.tell(attempt.device, wake: attempt.wake, payload: attempt.payload) {
        inbox.post(.input(.verdict(attempt, $0)))
      }
    }
    guard let sender = dependencies.senders[attempt.route] else {
      preconditionFailure("the coordinator begins no push over a route without a sender")
    }
    let push = Push(
      id: dependencies.keys.pushID(device: attempt.device, wake: attempt.wake),
      address: attempt.address, intent: attempt.intent, expires: attempt.expires,
      collapse: attempt.collapse.map { dependencies.keys.collapseID($0) }, payload: attempt.payload)
    sender.send(push, handover) { inbox.post(.input(.verdict(attempt, $0))) }
  }

  private func recall(_ attempt: PushAttempt.ID, for place: FactPlace) {
    let inbox = inbox
    let isGone = handovers[attempt]?.takeBack { inbox.post(.input(.recalled(place))) } ?? true
    if isGone { inbox.post(.input(.recalled(place))) }
  }
}

// MARK: The store's tasks

/// A job of the task that folds: a fold, or a trim of entries that are too old.
enum FoldJob: Sendable {
  case fold(Cut)
  case trim(tombstones: Instant, notifications: Instant, feedback: Instant)
}

extension EngineLoop {
  /// Writes each commit to the journal, and reports its outcome to the loop.
  static func write(
    _ commits: AsyncStream<[JournalEntry]>, to store: any Store, _ leases: [Lease], _ inbox: Inbox
  ) async {
    for await entries in commits {
      do throws(StoreError) {
        try await store.append(entries, leases: leases)
        inbox.post(.input(.appended(.success(()))))
      } catch {
        inbox.post(.input(.appended(.failure(error))))
      }
    }
  }

  /// Makes each fold and each trim, and reports its outcome to the loop.
  static func write(
    _ folds: AsyncStream<FoldJob>, to store: any Store, _ leases: [Lease], _ inbox: Inbox
  ) async {
    for await job in folds {
      do throws(StoreError) {
        switch job {
        case .fold(let cut):
          inbox.post(.input(.folded(.success(try await store.fold(cut, leases: leases)))))
        case .trim(let tombstones, let notifications, let feedback):
          let rows = try await store.trim(
            tombstones: tombstones, notifications: notifications, feedback: feedback,
            limit: Coordinator.trimRows, leases: leases)
          inbox.post(.input(.trimmed(rows: rows)))
        }
      } catch {
        inbox.post(.input(.folded(.failure(error))))
      }
    }
  }
}

extension ClockReader {
  /// Reads both clocks at one moment.
  var moment: Coordinator.Moment { Coordinator.Moment(wall: wall(), boot: boot()) }
}
