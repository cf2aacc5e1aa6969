import RelayCore
import Synchronization

/// What goes into the loop: facts from outside, bounded and answered when full; and completions of
/// our own effects, which have a reserved place and are never dropped (P11).
final class Inbox: Sendable {
  /// What is taken of the inbox's bounds.
  struct Room: Hashable, Sendable {
    var facts: Int
    var bytes: Int

    static let none = Room(facts: 0, bytes: 0)
  }

  /// Facts that belong together, and who waits for their answers.
  struct Submission: Sendable {
    let facts: [Fact]
    let submitter: Submitter
    let room: Room
    let answer: @Sendable (Result<[Answer], Unavailable>) -> Void

    init(
      facts: [Fact], by submitter: Submitter = .relay,
      answer: @escaping @Sendable (Result<[Answer], Unavailable>) -> Void
    ) {
      self.facts = facts
      self.submitter = submitter
      self.answer = answer
      room = Room(facts: facts.count, bytes: facts.reduce(0) { $0 + $1.footprint })
    }
  }

  enum Event: Sendable {
    /// What has happened outside.
    case input(Coordinator.Input)
    /// A reader waits for a fold.
    case readerWaits
    case timer
    /// Which of these are known.
    case asked([Change], @Sendable ([Bool]) -> Void)
    case health(@Sendable (HealthSnapshot) -> Void)
    /// A reload; said when it is done, or when the loop has ended.
    case reconfigure(EngineReconfiguration, @Sendable () -> Void)
  }

  struct Batch: Sendable {
    var submissions: [Submission] = []
    var events: [Event] = []
  }

  private struct State {
    var batch = Batch()
    var taken = Room.none
    var acknowledgements = 0
    var couriers = 0
    var waiter: CheckedContinuation<Void, Never>?
    var refusal: Unavailable.Cause? = .recovering
    var hasBegun = false
    /// Why recovery cannot begin; nil: it has, or is about to.
    var hindrance: String?
    var isClosed = false
  }

  private let state = Mutex(State())
  private let bounds: Room
  /// Acknowledgements beyond it are dropped: losing one costs at most a repeated wake.
  private static let acknowledgementsMax = 65_536
  /// Comings and goings at the courier: twice what may be open at once, for it all to be replaced.
  private static let couriersMax = 262_144

  init(factsMax: Int, bytesMax: Int = .max) {
    bounds = Room(facts: factsMax, bytes: bytesMax)
  }

  /// - Returns: why nothing was taken; nil if all of it was.
  func offer(_ submission: Submission) -> Unavailable? {
    let (refusal, waiter): (Unavailable?, CheckedContinuation<Void, Never>?) = state.withLock {
      if let cause = $0.refusal { return (Unavailable(cause, retryAfterSeconds: 5), nil) }
      let facts = $0.taken.facts + submission.room.facts
      // What came from a lone large request is free again when that is answered.
      let (bytes, isOver) = $0.taken.bytes.addingReportingOverflow(submission.room.bytes)
      guard $0.taken.facts == 0 || (facts <= bounds.facts && !isOver && bytes <= bounds.bytes)
      else { return (Unavailable(.inboxFull, retryAfterSeconds: 1), nil) }
      $0.taken = Room(facts: facts, bytes: bytes)
      $0.batch.submissions.append(submission)
      return (nil, $0.waiter.take())
    }
    waiter?.resume()
    return refusal
  }

  func post(_ event: Event) {
    let (waiter, isLate) = queue(event)
    waiter?.resume()
    if isLate { event.answerLate() }
  }

  /// Takes a coming or going at the courier.
  ///
  /// - Returns: false if there are too many, or the loop has ended.
  func offer(_ input: Coordinator.Input) -> Bool {
    let (isTaken, waiter): (Bool, CheckedContinuation<Void, Never>?) = state.withLock {
      guard !$0.isClosed, $0.couriers < Self.couriersMax else { return (false, nil) }
      $0.couriers += 1
      $0.batch.events.append(.input(input))
      return (true, $0.waiter.take())
    }
    waiter?.resume()
    return isTaken
  }

  private func queue(_ event: Event) -> (CheckedContinuation<Void, Never>?, isLate: Bool) {
    state.withLock {
      if $0.isClosed { return (nil, true) }
      if case .input(.acknowledged) = event {
        guard $0.acknowledgements < Self.acknowledgementsMax else { return (nil, false) }
        $0.acknowledgements += 1
      }
      $0.batch.events.append(event)
      return ($0.waiter.take(), false)
    }
  }

  /// Recovery is over: facts are taken, unless somebody has drained it meanwhile.
  func begin() {
    state.withLock {
      $0.hasBegun = true
      if $0.refusal == .recovering { $0.refusal = nil }
    }
  }

  /// Recovery cannot begin yet, or now it does.
  ///
  /// - Parameter reason: a sentence with its remedy; nil: nothing hinders it any more.
  func wait(because reason: String?) { state.withLock { $0.hindrance = reason } }

  /// The loop has not begun: what is posted waits for it.
  var isRecovering: Bool { state.withLock { !$0.hasBegun && !$0.isClosed } }

  /// No new facts are taken any more.
  func drain() { state.withLock { $0.refusal = .draining } }

  /// Why new facts are refused from now on, unless it is for good; nil: they are taken.
  func refuseUnlessDraining(_ cause: Unavailable.Cause?) {
    state.withLock { if $0.refusal != .draining { $0.refusal = cause } }
  }

  var readiness: Readiness {
    state.withLock { state in
      if state.isClosed { return .stopping }
      guard state.hasBegun else { return state.hindrance.map { .waiting($0) } ?? .recovering }
      return state.refusal == .draining ? .draining : .ready
    }
  }

  /// Of what was taken, so much is answered.
  func release(_ room: Room) {
    guard room != .none else { return }
    state.withLock {
      $0.taken.facts -= room.facts
      $0.taken.bytes -= room.bytes
    }
  }

  /// The loop has ended: who still waits here is told, and nobody comes in any more.
  func close() {
    let (batch, waiter) = state.withLock { state in
      state.refusal = .draining
      state.isClosed = true
      defer { state.batch = Batch() }
      return (state.batch, state.waiter.take())
    }
    waiter?.resume()
    for submission in batch.submissions {
      submission.answer(.failure(Unavailable(.draining, retryAfterSeconds: 5)))
    }
    for event in batch.events { event.answerLate() }
  }

  /// Everything that came in meanwhile; waits for something. Only the loop calls it. Closed, it is
  /// empty.
  func take() async -> Batch {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isThere: Bool = state.withLock {
        if $0.isClosed || !$0.batch.events.isEmpty || !$0.batch.submissions.isEmpty { return true }
        $0.waiter = waiter
        return false
      }
      if isThere { waiter.resume() }
    }
    return state.withLock { state in
      defer {
        state.batch = Batch()
        state.acknowledgements = 0
        state.couriers = 0
      }
      return state.batch
    }
  }
}

extension Inbox.Event {
  /// The loop has ended: who waits for it is not left waiting.
  func answerLate() {
    switch self {
    case .asked(_, let answer): answer([])
    case .health(let answer): answer(.ended)
    case .reconfigure(_, let done): done()
    default: break
    }
  }
}

extension HealthSnapshot {
  /// After the loop has ended.
  static var ended: HealthSnapshot { HealthSnapshot(notReady: .stopping) }

  /// Before the loop has begun, and after it.
  init(notReady readiness: Readiness) {
    self.init()
    reasons = readiness.reasons
  }
}
