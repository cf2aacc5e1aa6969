/// The entries that a partition or the relay has made and that are not taken yet.
struct TraceBuffer: Sendable {
  /// Entries that one buffer holds; more are counted as lost. A turn makes at most some thousand.
  static let most = 8_192
  /// How many lanes of a partition may say again, after a start, what they wait for. Of a million
  /// waiting devices the entries would drive everything else out of the recorder's memory.
  static let toldAnew = 64

  /// Whether entries are made at all.
  let isOn: Bool
  /// Whether recovery has not ended yet.
  var isReplaying = true
  private var entries: [TraceEntry] = []
  private var lost = 0
  /// For how many entries a new array gets room: as many as were taken last.
  private var expected = 2
  private static let expectedMost = 64
  private var recovered = 0
  /// What each lane is known to wait for, so that going on waiting makes no entry.
  private var waits: [Int: DeviceEvent.WaitKind] = [:]

  init(isOn: Bool) { self.isOn = isOn }

  var isEmpty: Bool { entries.isEmpty && lost == 0 }

  mutating func add(_ event: consuming TraceEvent, at: Instant) {
    guard entries.count < Self.most else {
      lost += 1
      return
    }
    // A busy relay makes as many entries in each turn. An array that grows step by step would copy
    // them, and leave more memory behind than the loop's caches hold.
    if entries.capacity == 0 { entries.reserveCapacity(expected) }
    entries.append(TraceEntry(at: at, event))
  }

  /// Notes what the lane in this slot waits for; `nil` means that it does not wait.
  ///
  /// - Returns: true if the lane has begun to wait for this.
  mutating func waits(_ device: Int, for kind: DeviceEvent.WaitKind?) -> Bool {
    guard waits[device] != kind else { return false }
    let before = waits[device]
    waits[device] = kind
    return kind != nil && before != .sinceBefore
  }

  /// The lane in this slot waits for the fold, as each does after a start.
  mutating func waitsForFold(_ device: Int) {
    if waits[device] != .sinceBefore { waits[device] = nil }
  }

  /// Something pends since before the start for the lane in this slot, and the life before has told
  /// what the lane waits for.
  ///
  /// The first `toldAnew` lanes make an entry all the same: the life before may have ended before
  /// they began to wait.
  mutating func waitsSinceBefore(_ device: Int) {
    recovered += 1
    if isOn, recovered > Self.toldAnew { waits[device] = .sinceBefore }
  }

  /// Gives all entries away, without a copy of any.
  mutating func take() -> [TraceEntry] {
    defer { (entries, lost) = ([], 0) }
    expected = min(max(2, entries.count), Self.expectedMost)
    if lost > 0, let last = entries.last?.at { entries.append(TraceEntry(at: last, .lost(lost))) }
    return entries
  }
}

extension DeviceEvent {
  /// What a lane waits for, without the time.
  enum WaitKind: Hashable, Sendable {
    case time(Lane.Wait)
    case connection
    /// What it waits for is not known, because the wait began before the start.
    case sinceBefore
  }
}
