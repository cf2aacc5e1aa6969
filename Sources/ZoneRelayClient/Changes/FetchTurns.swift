/// Which callers share a round of fetching: at most one round runs at a time.
///
/// A caller that comes during a round shares the next one, because the running round may have
/// passed what the caller wants. A caller that leaves disturbs no other caller; when all callers of
/// a round have left, nobody wants the round any more.
struct FetchTurns {
  typealias Caller = UInt64

  private var running: Set<Caller> = []
  private var waiting: [Caller] = []
  private var plan = FetchPlan()
  private(set) var isRunning = false
  private var callers: Caller = 0

  mutating func newCaller() -> Caller {
    callers += 1
    return callers
  }

  /// - Returns: true if the first round must be started now.
  mutating func join(_ caller: Caller, _ wanted: FetchPlan) -> Bool {
    waiting.append(caller)
    plan.add(wanted)
    defer { isRunning = true }
    return !isRunning
  }

  /// Begins the next round.
  ///
  /// - Returns: nil if nobody waits; then no round runs.
  mutating func begin() -> FetchPlan? {
    guard !waiting.isEmpty else {
      (isRunning, plan) = (false, FetchPlan())
      return nil
    }
    defer { (running, waiting, plan) = (Set(waiting), [], FetchPlan()) }
    return plan
  }

  /// Whether some caller of the running round still waits.
  var isWanted: Bool { !running.isEmpty }

  /// Whether some caller waits for the next round.
  var isWaited: Bool { !waiting.isEmpty }

  mutating func leave(_ caller: Caller) {
    running.remove(caller)
    waiting.removeAll { $0 == caller }
  }

  /// Ends the round.
  ///
  /// - Returns: the callers to answer.
  mutating func end() -> Set<Caller> {
    defer { running = [] }
    return running
  }
}
