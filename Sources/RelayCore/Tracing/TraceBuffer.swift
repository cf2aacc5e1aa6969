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
  /// Batches that are full or of another scope, and how many entries they have.
  private var batches: [TraceBatch] = []
  private var batched = 0
  private var writer = EntryWriter()
  /// When the newest entry was made.
  private var last = Instant.zero
  private var lost = 0
  /// For how many bytes a new batch gets room at once: as many as the batch before took.
  private var expected = 0
  private static let expectedMost = 2_048
  private var recovered = 0
  /// What each lane is known to wait for, so that going on waiting makes no entry.
  private var waits: [Int: DeviceEvent.WaitKind] = [:]

  init(isOn: Bool) { self.isOn = isOn }

  var isEmpty: Bool { writer.count == 0 && batches.isEmpty && lost == 0 }

  mutating func add(_ event: TraceEvent, at now: Instant) {
    write(in: event.scope, at: now) { $0.write(TraceEntry(at: now, event)) }
  }

  /// Makes an entry.
  ///
  /// - Parameter body: writes one entry.
  mutating func write(in scope: Scope?, at now: Instant, _ body: (inout EntryWriter) -> Void) {
    guard batched + writer.count < Self.most else {
      lost += 1
      return
    }
    if writer.count > 0, writer.isFull || !writer.takes(scope) {
      batched += writer.count
      batches.append(takeBatch())
    }
    if writer.count == 0 { writer.begin(scope, at: now, capacity: expected) }
    body(&writer)
    last = now
  }

  private mutating func takeBatch() -> TraceBatch {
    expected = min(writer.bytes.bytes.count, Self.expectedMost)
    return writer.take()
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

  /// Gives all entries away.
  mutating func take(into taken: inout [TraceBatch]) {
    if lost > 0 { writer.write(TraceEntry(at: last, .lost(lost))) }
    taken += batches
    if writer.count > 0 { taken.append(takeBatch()) }
    (batches, batched, lost) = ([], 0, 0)
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
