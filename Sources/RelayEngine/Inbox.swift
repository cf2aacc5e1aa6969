import Dispatch
import RelayCore
import Synchronization

/// The loop's input queue, where the loop waits for an input or until a set time. Facts from
/// outside are bounded, and are refused with an answer when the queue is full. Completions of the
/// relay's own effects have a reserved place and are never dropped (P11).
final class Inbox: Sendable {
  /// Facts that belong together, and the function that answers them.
  struct Submission: Sendable {
    let facts: [Fact]
    let submitter: Submitter
    let room: Admission.Room
    let answer: @Sendable (Result<[Answer], Unavailable>) -> Void

    init(
      facts: [Fact], by submitter: Submitter = .relay,
      answer: @escaping @Sendable (Result<[Answer], Unavailable>) -> Void
    ) {
      (self.facts, self.submitter, self.answer) = (facts, submitter, answer)
      room = Admission.Room(of: facts)
    }
  }

  enum Event: Sendable {
    /// An input for the coordinator.
    case input(Coordinator.Input)
    /// A reader waits for a fold.
    case readerWaits
    /// Asks which of these changes were taken before.
    case asked([Change], @Sendable ([Bool]) -> Void)
    case health(@Sendable (HealthSnapshot) -> Void)
    /// Asks for the standing of devices, and whether these zones are shared with the devices'
    /// users.
    case standings([DeviceKey], [ZoneID], @Sendable (Standings?) -> Void)
    /// A reload; the function is called when it is in force, or when the loop has ended.
    case reconfigure(EngineReconfiguration, @Sendable () -> Void)
  }

  struct Batch: Sendable {
    var submissions: [Submission] = []
    var events: [Event] = []
  }

  private struct State {
    var admission: Admission
    var batch = Batch()
    var waiter: CheckedContinuation<Void, Never>?
    /// When the timer fires, in nanoseconds of Dispatch's clock; 0 means that it is not set.
    var firesAt: UInt64 = 0
    /// Whether the timer has fired since the loop last took a batch.
    var hasFired = false
    /// Why recovery cannot begin; nil if recovery has begun or is about to begin.
    var hindrance: String?
    var isClosed = false
  }

  private let state: Mutex<State>
  /// Wakes the loop at a set time if no input has come in before. `nonisolated(unsafe)`, because
  /// Dispatch documents its sources as thread-safe, but the Swift overlay does not declare them so.
  nonisolated(unsafe) private let timer = DispatchSource.makeTimerSource(
    queue: DispatchQueue(label: "zonerelay.loop-timer"))

  /// - Parameter connectionsMax: how many courier connections may be open at the same time.
  init(factsMax: Int, bytesMax: Int = .max, connectionsMax: Int = 50_000) {
    let bounds = Admission.Room(facts: factsMax, bytes: bytesMax)
    state = Mutex(State(admission: Admission(bounds: bounds, connectionsMax: connectionsMax)))
    timer.setEventHandler { [weak self] in self?.fire() }
    timer.activate()
  }

  deinit { timer.cancel() }

  /// - Returns: why the submission was refused; nil if all of it was taken.
  func offer(_ submission: Submission) -> Unavailable? {
    let (refusal, waiter): (Unavailable?, CheckedContinuation<Void, Never>?) = state.withLock {
      if let refusal = $0.admission.offer(submission.room) { return (refusal, nil) }
      $0.batch.submissions.append(submission)
      return (nil, $0.waiter.take())
    }
    waiter?.resume()
    return refusal
  }

  /// Takes an event, or answers it at once if the loop has ended.
  ///
  /// - Returns: false if the loop has ended, or `Admission` does not admit the input.
  @discardableResult
  func post(_ event: Event) -> Bool {
    let (isTaken, waiter): (Bool, CheckedContinuation<Void, Never>?) = state.withLock {
      if $0.isClosed { return (false, nil) }
      if case .input(let input) = event, !$0.admission.admits(input) { return (false, nil) }
      $0.batch.events.append(event)
      return (true, $0.waiter.take())
    }
    waiter?.resume()
    if !isTaken { event.answerLate() }
    return isTaken
  }

  /// Recovery is over: takes facts from now on, unless the relay drains already.
  func begin() { state.withLock { $0.admission.begin() } }

  /// Notes why recovery cannot begin yet, or that it can begin now.
  ///
  /// - Parameter reason: a sentence with its remedy; `nil` means that recovery can begin.
  func wait(because reason: String?) { state.withLock { $0.hindrance = reason } }

  /// True until the loop begins; events posted before then wait for the loop.
  var isRecovering: Bool { state.withLock { !$0.admission.hasBegun && !$0.isClosed } }

  /// Refuses all new facts from now on.
  func drain() { state.withLock { $0.admission.drain() } }

  /// Sets why new facts are refused from now on; `nil` means that they are taken. Draining is final
  /// and stays.
  func refuseUnlessDraining(_ cause: Unavailable?) {
    state.withLock { $0.admission.refuse(cause) }
  }

  var readiness: Readiness {
    state.withLock { state in
      if state.isClosed { return .stopping }
      guard state.admission.hasBegun else {
        return state.hindrance.map { .waiting($0) } ?? .recovering
      }
      return state.admission.isDraining ? .draining : .ready
    }
  }

  /// Frees the room of facts that were answered.
  func release(_ room: Admission.Room) {
    guard room != .none else { return }
    state.withLock { $0.admission.release(room) }
  }

  /// Closes the inbox when the loop has ended: answers all that still wait, and takes nothing more.
  func close() {
    let (batch, waiter) = state.withLock { state in
      state.admission.drain()
      state.isClosed = true
      defer { state.batch = Batch() }
      return (state.batch, state.waiter.take())
    }
    waiter?.resume()
    for submission in batch.submissions {
      submission.answer(.failure(.draining))
    }
    for event in batch.events { event.answerLate() }
  }

  /// Waits until something has come in, but no longer than `span`, and takes everything. Only the
  /// loop calls this function. The batch may be empty: when the time is over, when the timer of an
  /// earlier call fires, and once the inbox is closed.
  func take(within span: Span) async -> Batch {
    if span > .zero { setTimer(in: span) }
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isDue: Bool = state.withLock {
        let isThere = !$0.batch.events.isEmpty || !$0.batch.submissions.isEmpty
        if isThere || $0.hasFired || $0.isClosed || span <= .zero { return true }
        $0.waiter = waiter
        return false
      }
      if isDue { waiter.resume() }
    }
    return state.withLock { state in
      defer {
        state.batch = Batch()
        state.admission.emptied()
        state.hasFired = false
      }
      return state.batch
    }
  }

  /// Sets the timer, unless it fires earlier already. The loop waits anew at each turn, mostly for
  /// a later instant, and setting the timer each time would cost more than a needless early turn.
  private func setTimer(in span: Span) {
    let deadline = DispatchTime.now() + .milliseconds(Int(clamping: span.milliseconds))
    let isLater = state.withLock {
      if $0.firesAt != 0, $0.firesAt <= deadline.uptimeNanoseconds { return true }
      $0.firesAt = deadline.uptimeNanoseconds
      return false
    }
    if !isLater { timer.schedule(deadline: deadline, leeway: .milliseconds(1)) }
  }

  private func fire() {
    let waiter = state.withLock {
      $0.firesAt = 0
      $0.hasFired = true
      return $0.waiter.take()
    }
    waiter?.resume()
  }
}

extension Inbox.Event {
  /// Answers an event after the loop has ended, so that its caller does not wait for ever.
  func answerLate() {
    switch self {
    case .asked(_, let answer): answer([])
    case .health(let answer): answer(.ended)
    case .standings(_, _, let answer): answer(nil)
    case .reconfigure(_, let done): done()
    default: break
    }
  }
}

extension HealthSnapshot {
  /// The snapshot after the loop has ended.
  static var ended: HealthSnapshot { HealthSnapshot(notReady: .stopping) }

  /// The snapshot before the loop has begun and after it has ended.
  init(notReady readiness: Readiness) {
    self.init()
    reasons = readiness.reasons
  }
}
