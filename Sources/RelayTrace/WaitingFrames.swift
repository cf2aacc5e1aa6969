import RelayCore
import RelayEngine

/// Entries that wait to be written, as the file's frames.
///
/// Entries are encoded as soon as they come, on the loop. So the loop frees the names in them
/// itself, while its core has them at hand. When the recorder's queue encoded and freed them, an
/// event cost 4 % more (docs/performance.md).
struct WaitingFrames: Sendable {
  /// What one frame of the file holds.
  struct Frame: Sendable {
    /// The number, in this life, of the first entry.
    var first: UInt64
    var count: Int
    /// How many of the entries only say that others are lost, and how many others.
    var gaps = 0
    var dropped = 0
    var payload: [UInt8]

    /// How many entries are missing if the frame is.
    var missing: Int { count - gaps + dropped }
  }

  /// The most entries that wait, and the most bytes that they take.
  let entriesMax: Int
  let bytesMax: Int
  /// How many entries wait, and how many have been taken in this life. An entry that says how many
  /// are lost counts as one.
  private(set) var count = 0
  private(set) var taken: UInt64 = 0
  /// How many entries found no room, or are too large for a frame.
  private(set) var lost: UInt64 = 0

  private var frames: [Frame] = []
  private var bytes = 0
  private var frame = EntryWriter(capacity: 0)
  private var gaps = 0
  private var droppedBefore = 0
  /// How many entries were dropped since the last one that found room, and when the first was.
  private var dropped: (count: Int, at: Instant)?

  init(entriesMax: Int, bytesMax: Int) {
    (self.entriesMax, self.bytesMax) = (entriesMax, bytesMax)
  }

  /// An estimate beyond which a frame ends, well below what a block holds.
  private static let frameFull = RingLayout.frameBytesMax / 4

  /// Whether what waits takes a quarter of its room. It should then be written without a further
  /// wait, so that entries find room at any rate of events.
  var isManyOrLarge: Bool { count >= entriesMax / 4 || bytes >= bytesMax / 4 }

  /// Takes entries, or drops all of them.
  mutating func add(_ entries: [TraceEntry]) {
    guard let first = entries.first else { return }
    guard count + entries.count <= entriesMax, bytes + frame.bytes.bytes.count <= bytesMax else {
      return drop(entries.count, at: first.at)
    }
    writeDrop()
    for entry in entries { write(entry) }
    count += entries.count
    taken += UInt64(entries.count)
  }

  /// The entry that says how many were dropped has a number at once, and a place of its own beside
  /// the bound.
  private mutating func drop(_ entries: Int, at: Instant) {
    lost += UInt64(entries)
    if dropped == nil {
      count += 1
      taken += 1
    }
    dropped = ((dropped?.count ?? 0) + entries, dropped?.at ?? at)
  }

  private mutating func writeDrop() {
    guard let dropped = dropped.take() else { return }
    gaps += 1
    droppedBefore += dropped.count
    write(TraceEntry(at: dropped.at, .lost(dropped.count)))
  }

  private mutating func write(_ entry: TraceEntry) {
    if frame.count == 0 { frame = EntryWriter(capacity: Self.frameFull + 1_024) }
    let before = frame.bytes.bytes.count
    frame.write(entry)
    if frame.bytes.bytes.count > RingLayout.payloadMax { write(alone: entry, behind: before) }
    if frame.bytes.bytes.count >= Self.frameFull { endFrame() }
  }

  /// Ends the frame before the entry, and begins the next one with it. An entry that does not fit
  /// into a frame alone becomes an entry that says that one is lost.
  private mutating func write(alone entry: TraceEntry, behind before: Int) {
    if frame.count > 1 { endFrame(without: 1, bytes: before) }
    frame = EntryWriter(capacity: RingLayout.payloadMax)
    frame.write(entry)
    guard frame.bytes.bytes.count > RingLayout.payloadMax else { return }
    lost += 1
    frame = EntryWriter(capacity: 0)
    frame.write(TraceEntry(at: entry.at, .lost(1)))
    (gaps, droppedBefore) = (1, 1)
  }

  /// - Parameters:
  ///   - left: how many entries at the end of the frame are left out.
  ///   - bytes: the bytes of the others; `nil` means all.
  private mutating func endFrame(without left: Int = 0, bytes wanted: Int? = nil) {
    guard frame.count > left else { return }
    let all = frame.bytes.bytes
    let payload = wanted.map { Array(all.prefix($0)) } ?? all
    let before = frames.last.map { $0.first + UInt64($0.count) } ?? taken - UInt64(count)
    frames.append(
      Frame(
        first: before, count: frame.count - left, gaps: gaps, dropped: droppedBefore,
        payload: payload))
    (gaps, droppedBefore) = (0, 0)
    bytes += payload.count
    frame = EntryWriter(capacity: 0)
  }

  /// Gives away what waits.
  ///
  /// - Returns: the frames, and the number of the first entry in them.
  mutating func take() -> (frames: [Frame], first: UInt64) {
    writeDrop()
    endFrame()
    defer { (frames, bytes, count) = ([], 0, 0) }
    return (frames, taken - UInt64(count))
  }
}
