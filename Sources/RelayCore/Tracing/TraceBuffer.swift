/// The entries that a partition or the relay has made and that are not taken yet.
struct TraceBuffer: Sendable {
  /// Entries that one buffer holds; more are counted as lost. A turn makes at most some thousand.
  static let most = 8_192

  /// Whether entries are made at all.
  let isOn: Bool
  /// Whether recovery has not ended yet.
  var isReplaying = true
  private var entries: [TraceEntry] = []
  private var lost = 0
  /// What each lane is known to wait for, so that going on waiting makes no entry.
  private var waits: [Int: DeviceEvent.WaitKind] = [:]

  init(isOn: Bool) { self.isOn = isOn }

  var isEmpty: Bool { entries.isEmpty && lost == 0 }

  mutating func add(_ event: TraceEvent, at: Instant) {
    guard entries.count < Self.most else {
      lost += 1
      return
    }
    entries.append(TraceEntry(at: at, event))
  }

  /// Notes what the lane in this slot waits for; `nil` means that it does not wait.
  ///
  /// - Returns: true if the lane has begun to wait for this.
  mutating func waits(_ device: Int, for kind: DeviceEvent.WaitKind?) -> Bool {
    guard waits[device] != kind else { return false }
    waits[device] = kind
    return kind != nil
  }

  /// Gives all entries away, without a copy of any.
  mutating func take() -> [TraceEntry] {
    defer { (entries, lost) = ([], 0) }
    if lost > 0, let last = entries.last?.at { entries.append(TraceEntry(at: last, .lost(lost))) }
    return entries
  }
}

extension DeviceEvent {
  /// What a lane waits for, without the time.
  enum WaitKind: Hashable, Sendable {
    case time(Lane.Wait)
    case connection
  }
}
