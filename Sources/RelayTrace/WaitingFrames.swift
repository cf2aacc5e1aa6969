import RelayCore
import RelayEngine

/// Entries that wait to be written, as the file's frames.
struct WaitingFrames: Sendable {
  /// What one frame of the file holds.
  struct Frame: Sendable {
    /// The number, in this life, of the first entry.
    var first: UInt64
    var count: Int
    /// How many of the entries only say that other entries are lost.
    var gaps = 0
    /// How many entries the frame says are lost.
    var dropped = 0
    var payload: [UInt8]

    /// How many entries are missing if the frame is not in the file: those that the frame holds,
    /// and those that the frame says are lost.
    var missing: Int { count - gaps + dropped }
  }

  /// The most entries that wait.
  let entriesMax: Int
  /// While the waiting entries take at most this many bytes, one more batch finds room.
  let bytesMax: Int
  /// How many entries wait. An entry that says how many are lost counts as one.
  private(set) var count = 0
  /// How many entries were taken in this life. An entry that says how many are lost counts as one.
  private(set) var taken: UInt64 = 0
  /// How many entries found no room, or are too large for a frame.
  private(set) var lost: UInt64 = 0

  private var frames: [Frame] = []
  private var bytes = 0
  private var frame = TraceFrame()
  private var gaps = 0
  private var droppedBefore = 0
  /// How many entries were dropped since an entry last found room, and the time of the first
  /// dropped one.
  private var dropped: (count: Int, at: Instant)?

  init(entriesMax: Int, bytesMax: Int) {
    (self.entriesMax, self.bytesMax) = (entriesMax, bytesMax)
  }

  /// The most bytes of a frame's entries, so that a block holds four frames. Only a single batch
  /// that is larger makes a larger frame.
  private static let frameFull =
    (RingLayout.blockBytes - RingLayout.blockHeadBytes) / 4 - RingLayout.frameHeadBytes

  /// Whether the waiting entries take a quarter of their room. They should then be written without
  /// a further wait, so that entries find room however fast events come.
  var isManyOrLarge: Bool { count >= entriesMax / 4 || bytes >= bytesMax / 4 }

  /// Takes the batches for which there is room, and drops the others.
  mutating func add(_ batches: [TraceBatch]) {
    for batch in batches {
      guard count + batch.count <= entriesMax, bytes + frame.size <= bytesMax else {
        drop(batch.count, at: batch.first)
        continue
      }
      writeDrop()
      write(batch)
      count += batch.count
      taken += UInt64(batch.count)
    }
  }

  /// Counts entries as dropped. One entry will say how many were dropped in a row; it gets its
  /// number at once, and has room even if the bound is reached.
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

  private mutating func write(_ batch: TraceBatch) {
    let size = batch.size + TraceFrame.batchHeadBytesMax
    guard size <= RingLayout.payloadMax else { return write(large: batch) }
    if frame.size + size > Self.frameFull { endFrame() }
    if frame.count == 0 { frame = TraceFrame(capacity: Self.frameFull) }
    frame.append(batch)
  }

  /// Writes each entry of the batch alone. An entry that does not fit into a frame alone becomes an
  /// entry that says that one is lost.
  private mutating func write(large batch: TraceBatch) {
    for entry in batch.entries {
      for alone in TraceBatch.of([entry]) {
        if alone.size + TraceFrame.batchHeadBytesMax <= RingLayout.payloadMax {
          write(alone)
        } else {
          lost += 1
          gaps += 1
          droppedBefore += 1
          write(TraceEntry(at: entry.at, .lost(1)))
        }
      }
    }
  }

  private mutating func write(_ entry: TraceEntry) {
    for batch in TraceBatch.of([entry]) { write(batch) }
  }

  private mutating func endFrame() {
    guard frame.count > 0 else { return }
    let before = frames.last.map { $0.first + UInt64($0.count) } ?? taken - UInt64(count)
    frames.append(
      Frame(
        first: before, count: frame.count, gaps: gaps, dropped: droppedBefore,
        payload: frame.bytes))
    (gaps, droppedBefore) = (0, 0)
    bytes += frame.size
    frame = TraceFrame()
  }

  /// Takes all waiting entries out, as frames.
  ///
  /// - Returns: the frames, and the number of the first entry in them.
  mutating func take() -> (frames: [Frame], first: UInt64) {
    writeDrop()
    endFrame()
    defer { (frames, bytes, count) = ([], 0, 0) }
    return (frames, taken - UInt64(count))
  }
}
