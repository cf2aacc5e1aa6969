/// The order of the client's work: one piece at a time.
///
/// A round of fetching is shared by all callers that came before it began to fetch. A caller that
/// comes later shares the next one, because the running round may have passed what the caller
/// wants. A caller that leaves disturbs no other caller.
struct WorkQueue {
  typealias Caller = UInt64

  enum Work: Equatable {
    /// The call of one caller.
    case call(Caller)
    /// A round of fetching for all callers that wait for one.
    case round
  }

  /// The running piece of work, with the callers that still wait for it; nil if nothing runs.
  private var current: (isRound: Bool, callers: Set<Caller>)?
  private var isRunning = false
  private(set) var calls: [Caller] = []
  private(set) var fetchers: Set<Caller> = []
  /// The callers in `calls` that want the work ahead of them to end soon.
  private var stopping: Set<Caller> = []
  private var callers: Caller = 0

  mutating func newCaller() -> Caller {
    callers += 1
    return callers
  }

  /// A caller asks for a call of its own. Calls come before the next round.
  ///
  /// - Parameter stopsOthers: whether the running round must stop before its next page, and no
  ///   earlier call may wait for the relay.
  /// - Returns: true if the client must start to work.
  mutating func call(_ caller: Caller, stopsOthers: Bool) -> Bool {
    calls.append(caller)
    if stopsOthers { stopping.insert(caller) }
    return starts()
  }

  /// A caller asks for a round that begins after now.
  ///
  /// - Returns: true if the client must start to work.
  mutating func fetch(_ caller: Caller) -> Bool {
    fetchers.insert(caller)
    return starts()
  }

  private mutating func starts() -> Bool {
    defer { isRunning = true }
    return !isRunning
  }

  /// Begins the next piece of work; nil means that the client has nothing to do.
  mutating func next() -> Work? {
    if !calls.isEmpty {
      let caller = calls.removeFirst()
      stopping.remove(caller)
      current = (false, [caller])
      return .call(caller)
    }
    guard !fetchers.isEmpty else {
      isRunning = false
      return nil
    }
    current = (true, fetchers)
    fetchers = []
    return .round
  }

  /// The running round begins to fetch what all callers have asked for until now, so the callers
  /// that came while the round waited for the user's token share the round. If the round is being
  /// stopped, it begins nothing, and these callers get the next round.
  mutating func beginRound() {
    guard stopping.isEmpty, current?.isRound == true else { return }
    current?.callers.formUnion(fetchers)
    fetchers = []
  }

  /// Whether some caller still waits for the running piece of work, and no call stops it. A round
  /// goes on only while this is true, and any work waits for the relay only while this is true.
  var isWanted: Bool {
    stopping.isEmpty && current?.callers.isEmpty == false
  }

  /// A caller does not wait any more. If its call has begun, the call goes on to its end; otherwise
  /// the call is never run.
  mutating func leave(_ caller: Caller) {
    calls.removeAll { $0 == caller }
    stopping.remove(caller)
    fetchers.remove(caller)
    current?.callers.remove(caller)
  }

  /// Ends the running piece of work.
  ///
  /// - Returns: the callers of the round, who must be answered.
  mutating func end() -> Set<Caller> {
    defer { current = nil }
    guard let current, current.isRound else { return [] }
    return current.callers
  }
}
