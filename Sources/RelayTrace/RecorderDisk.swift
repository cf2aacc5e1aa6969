import Glibc
import Logging
import RelayCore
import RelayEngine

/// The file of a `FileRecorder`, opened again after failures, and made again if an operator removes
/// it. Only the recorder's queue uses it, except for `bytes`.
///
/// `Sendable` is unchecked, because the queue runs one job at a time.
final class RecorderDisk: @unchecked Sendable {
  let bytes: Int
  private let path: String
  private let clock: any ClockReader
  private let logger: Logger
  private let retryAfter: Span
  private var life: UInt64?
  private var writer: RingWriter?
  /// Where this life began to write after it last opened the file.
  private var began: RingLayout.BlockEnd?
  /// Whether this life has opened the file before.
  private var isBegun = false
  /// How many entries of this life the file neither holds nor reports as lost yet.
  private var missing = 0
  /// Whether the file was replaced, and the new one does not say so yet.
  private var isReplaced = false
  private var retryAt = Instant.zero
  private var trouble: String?

  struct Outcome {
    var trouble: String?
    /// Entries that were not written.
    var lost = 0
  }

  init(path: String, bytes: Int, clock: any ClockReader, logger: Logger, retryAfter: Span) {
    (self.path, self.bytes, self.clock, self.logger) = (path, bytes, clock, logger)
    self.retryAfter = retryAfter
  }

  func begin(life: UInt64) { self.life = life }

  static func remove(_ path: String) -> Bool { unlink(path) == 0 }

  /// - Parameter first: the first entry's number, counted from the start of this life. If there is
  ///   no frame, the number that the next entry will have.
  func write(_ frames: [WaitingFrames.Frame], from first: UInt64) -> Outcome {
    guard let life else { return Outcome() }
    guard open(before: first, in: life) else { return gives(up: frames[...]) }
    do throws(RingFile.Failure) {
      try writer?.write(frames)
      return Outcome()
    } catch {
      let rest = frames.dropFirst(writer?.written ?? 0)
      fails(error)
      return gives(up: rest)
    }
  }

  private func gives(up frames: ArraySlice<WaitingFrames.Frame>) -> Outcome {
    missing += frames.reduce(0) { $0 + $1.missing }
    return Outcome(trouble: trouble, lost: frames.reduce(0) { $0 + $1.count - $1.gaps })
  }

  /// If the file is not open, opens the file and writes marks: entries without a number, which say
  /// that entries are lost, that the life begins, or both.
  ///
  /// - Parameter first: the number of the next entry in this life.
  private func open(before first: UInt64, in life: UInt64) -> Bool {
    if let isStill = writer?.isStill(at: path) {
      if isStill { return true }
      logger.notice(
        "the trace file was removed, replaced or written over, and is opened again",
        metadata: ["file": "\(path)"])
      writer = nil
      isReplaced = true
    }
    guard trouble == nil || retryAt <= clock.boot() else { return false }
    do throws(RingFile.Failure) {
      let file = try RingFile(path, bytes: bytes)
      tell(givenUp: file.beginning.givenUp)
      let marks = marks(after: file.beginning, in: life)
      began = file.end
      var writer = RingWriter(file)
      try writer.write(marks: marks, before: first)
      self.writer = consume writer
      (isBegun, isReplaced, missing) = (true, false, 0)
      if trouble != nil { logger.notice("trace is written again", metadata: ["file": "\(path)"]) }
      trouble = nil
      return true
    } catch {
      tell(givenUp: error.givenUp)
      fails(error)
      return false
    }
  }

  private func marks(after beginning: RingFile.Beginning, in life: UInt64) -> [TraceEntry] {
    let now = clock.wall()
    var isWhole = true
    // A life between the `ended` one and this one may be missing in the file, because that life
    // could not open the file, or because the machine lost entries that were not on the disk.
    if case .kept(let ended) = beginning { isWhole = ended.map { $0 &+ 1 == life } ?? false }
    var marks: [TraceEntry] = []
    // Whether only those entries are missing that this life has counted.
    let isExact = isBegun ? beginning.isKept && !isReplaced : isWhole
    if isExact, missing > 0 {
      marks.append(TraceEntry(at: now, .lost(missing)))
    } else if isBegun || !isExact {
      marks.append(TraceEntry(at: now, .lost(nil)))
    }
    if !isBegun { marks.append(TraceEntry(at: now, .began)) }
    return marks
  }

  private func tell(givenUp why: String?) {
    guard let why else { return }
    logger.notice(
      "the trace begins anew, what it held is no longer known",
      metadata: ["file": "\(path)", "reason": "\(why)"])
  }

  private func fails(_ failure: RingFile.Failure) {
    if trouble == nil { logger.error("trace not written", metadata: ["error": "\(failure.text)"]) }
    trouble =
      "the trace is not being written, so what happens now cannot be explained later: "
      + "\(failure.text); free room or correct the directory's rights, it is tried again"
    writer = nil
    retryAt = clock.boot() + retryAfter
  }

  func reader(through place: UInt64) -> RingReader? {
    guard let blocks = writer?.blocks, let newest = writer?.end.sequence, let began else {
      return nil
    }
    return RingReader(
      path, blocks: blocks, newest: newest,
      RingReader.Life(sequence: began.sequence, offset: began.offset, place: place))
  }

  /// Writes the frame that says that this life has ended cleanly, and closes the file. If writing
  /// has failed and the file is not open, no such frame is written, and the next life says that
  /// entries may be missing. Later calls do nothing: the file may be the next life's.
  func end(at number: UInt64) {
    guard let life = life.take() else { return }
    defer { writer = nil }
    do throws(RingFile.Failure) {
      try writer?.end(life, at: number)
    } catch {
      fails(error)
    }
  }
}
