/// The entries that a partition or the relay has made and that are not taken yet.
struct TraceBuffer: Sendable {
  /// The most entries that one buffer holds; further entries are counted as lost. A turn makes at
  /// most a few thousand entries.
  static let most = 8_192
  /// For how many lanes of a partition a start may make a new entry about what the lane waits for.
  /// Entries about a million waiting devices would leave no room in the recorder for other entries.
  static let toldAnew = 64

  /// Whether entries are made at all.
  let isOn: Bool
  /// Whether recovery has not ended yet.
  private(set) var isReplaying = true
  /// Batches that are complete, because they are full or the next entry has another scope.
  /// `batched` is how many entries they have.
  private var batches: [TraceBatch] = []
  private var batched = 0
  private var writer = EntryWriter()
  /// When the newest entry was made.
  private var last = Instant.zero
  private var lost = 0
  /// The bytes for which a new batch gets room at once: as many as the batch before took, at most
  /// `expectedMost`.
  private var expected = 0
  private static let expectedMost = 2_048
  private var recovered = 0
  /// What each lane is known to wait for, so that a lane makes no entry when it goes on waiting for
  /// the same.
  private var waits: [Int: DeviceEvent.WaitKind] = [:]

  init(isOn: Bool) { self.isOn = isOn }

  /// Recovery has ended.
  mutating func recoveryEnded() { isReplaying = false }

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

  /// The lane in this slot waits for the fold, as every lane does after a start.
  mutating func waitsForFold(_ device: Int) {
    if waits[device] != .sinceBefore { waits[device] = nil }
  }

  /// The lane in this slot holds something that pended before the start, and an entry of the life
  /// before states what the lane waits for.
  ///
  /// The first `toldAnew` lanes make a new entry nevertheless, because the life before may have
  /// ended before these lanes began to wait.
  mutating func waitsSinceBefore(_ device: Int) {
    recovered += 1
    if isOn, recovered > Self.toldAnew { waits[device] = .sinceBefore }
  }

  /// Moves all entries into `taken`.
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
    /// The wait began before the start, so the buffer does not know what the lane waits for.
    case sinceBefore
  }
}
