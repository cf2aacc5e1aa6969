import Dispatch
package import Logging
package import RelayCore
package import RelayEngine
import Synchronization

/// The flight recorder on a file of fixed size, which is written round and round.
///
/// Entries wait in memory for at most `writeWithin`, or until they take a quarter of their room.
/// Then the recorder's own queue writes them. The file survives the end of the process at any
/// moment; the entries that waited then are lost, and the next life says so. The file is not forced
/// to the disk, so a power failure may lose more.
///
/// If entries are dropped, one entry takes their place in the order and says how many they were.
/// This entry gets its number when the first of them is dropped. So a reader that reads up to a
/// higher number finds this entry.
package final class FileRecorder: FlightRecorder, Sendable {
  /// The file's name in the store's directory.
  package static let fileName = "trace.ring"
  /// How many entries may wait to be written.
  package static let waitingMax = 32_768
  /// How many bytes the waiting entries may take before further entries are dropped.
  package static let waitingBytesMax = 16 << 20
  /// Explanations that may read, or wait to read, at the same time.
  package static let readersMax = 4
  /// How long entries wait before they are written together. Each write wakes a thread, and asks
  /// the file system whether the file is still there.
  static let writeWithin = DispatchTimeInterval.milliseconds(250)
  /// How long after a failure the file is tried again.
  package static let retryAfter = Span.seconds(5)

  private struct State {
    var waiting = WaitingFrames(
      entriesMax: FileRecorder.waitingMax, bytesMax: FileRecorder.waitingBytesMax)
    /// Whether a write of the waiting entries is on its way.
    var isWriting = false
    /// Whether a write that does not wait for `writeWithin` is on its way.
    var isWritingAtOnce = false
    var isRetrying = false
    /// How many entries could not be written.
    var lost: UInt64 = 0
    var trouble: String?
    var readers = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  /// Where the file is written, in the order of the calls.
  let queue = DispatchQueue(label: "zonerelay.trace")
  private let reading = DispatchQueue(label: "zonerelay.trace-reading")
  private let disk: RecorderDisk
  private let retryAfter: Span

  /// - Parameter bytes: the size of the file, at least one mebibyte.
  package init(
    directory: String, bytes: Int, clock: any ClockReader, logger: Logger,
    retryAfter: Span = FileRecorder.retryAfter
  ) {
    self.retryAfter = retryAfter
    disk = RecorderDisk(
      path: "\(directory)/\(Self.fileName)", bytes: bytes, clock: clock, logger: logger,
      retryAfter: retryAfter)
  }

  /// Opens the file, or makes it. If that fails, the recorder tries again, and `health` says why.
  package func begin(life: UInt64) {
    queue.async {
      self.disk.begin(life: life)
      self.write()
    }
  }

  /// Removes the file of a recorder that is switched off. Without a recorder the daemon never reads
  /// this file.
  ///
  /// - Returns: whether there was a file.
  package static func remove(from directory: String) -> Bool {
    RecorderDisk.remove("\(directory)/\(fileName)")
  }

  package func record(_ batches: [TraceBatch]) {
    let (isFirst, isMany) = state.withLock { state in
      guard !state.isClosed, !batches.isEmpty else { return (false, false) }
      state.waiting.add(batches)
      let isMany = state.waiting.isManyOrLarge && !state.isWritingAtOnce
      if isMany { state.isWritingAtOnce = true }
      defer { state.isWriting = true }
      return (!state.isWriting, isMany)
    }
    if isFirst { queue.asyncAfter(deadline: .now() + Self.writeWithin) { self.write() } }
    if isMany { queue.async { self.write() } }
  }

  package var place: UInt64 { state.withLock { $0.waiting.taken } }

  /// How many entries wait to be written.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// How many readers read, or wait to read.
  var readerCount: Int { state.withLock { $0.readers } }

  package var health: RecorderHealth {
    state.withLock { state in
      var health = RecorderHealth()
      (health.recorded, health.trouble) = (state.waiting.taken, state.trouble)
      health.lost = state.lost + state.waiting.lost
      health.bytes = Int64(disk.bytes)
      return health
    }
  }

  /// Writes the waiting entries. Runs on `queue`.
  private func write() {
    let (frames, first) = state.withLock { state in
      (state.isWriting, state.isWritingAtOnce) = (false, false)
      return state.waiting.take()
    }
    let outcome = disk.write(frames, from: first)
    let retries = state.withLock { state -> Bool in
      state.trouble = outcome.trouble
      state.lost += UInt64(outcome.lost)
      guard outcome.trouble != nil, !state.isRetrying, !state.isClosed else { return false }
      state.isRetrying = true
      return true
    }
    guard retries else { return }
    // The write is tried again even if no entries come: otherwise `status` would go on to report a
    // trouble that is over.
    queue.asyncAfter(deadline: .now() + .milliseconds(Int(retryAfter.milliseconds))) {
      self.state.withLock { $0.isRetrying = false }
      self.write()
    }
  }

  package func read(
    through place: UInt64, _ body: @escaping @Sendable ([TraceEntry]) -> Bool
  ) async throws(TraceError) {
    let hasRoom = state.withLock { state -> Bool in
      guard state.readers < Self.readersMax else { return false }
      state.readers += 1
      return true
    }
    guard hasRoom else {
      throw TraceError(
        .busy, "\(Self.readersMax) explanations are being made already; try again in a moment")
    }
    defer { state.withLock { $0.readers -= 1 } }
    let reader = await Self.run(on: queue) {
      self.write()
      return self.disk.reader(through: place)
    }
    guard let reader else {
      throw TraceError(.unreadable, health.trouble ?? "the trace file is not open")
    }
    await Self.run(on: reading) { reader.read(body) }
  }

  private static func run<Value: Sendable>(
    on queue: DispatchQueue, _ body: @escaping @Sendable () -> Value
  ) async -> Value {
    await withCheckedContinuation { waiter in
      queue.async { waiter.resume(returning: body()) }
    }
  }

  package func close() async {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    guard isFirst else { return }
    await Self.run(on: queue) {
      self.write()
      self.disk.end(at: self.place)
    }
  }
}
