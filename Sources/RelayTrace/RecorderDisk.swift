import Glibc
import Logging
import RelayCore
import RelayEngine

/// The file of a `FileRecorder`, opened again after failures. Only the recorder's queue uses it,
/// except for `bytes`.
///
/// `Sendable` is unchecked, because the queue runs one job at a time.
final class RecorderDisk: @unchecked Sendable {
  let bytes: Int
  private let path: String
  private let clock: any ClockReader
  private let logger: Logger
  private var writer: RingWriter?
  /// The block in which this life began.
  private var lifeBegan: UInt64 = 1
  private var isBegun = false
  private var retryAt = Instant.zero
  private var trouble: String?

  struct Outcome {
    var trouble: String?
    /// Entries that were not written.
    var lost = 0
  }

  init(path: String, bytes: Int, clock: any ClockReader, logger: Logger) {
    (self.path, self.bytes, self.clock, self.logger) = (path, bytes, clock, logger)
  }

  static func remove(_ path: String) -> Bool { unlink(path) == 0 }

  /// - Parameters:
  ///   - parts: entries in their order, as the loop gave them: a copy in one array would cost as
  ///     much as to write them.
  ///   - first: the number of the first entry in this life.
  func write(_ parts: [[TraceEntry]], from first: UInt64) -> Outcome {
    let count = parts.reduce(0) { $0 + $1.count }
    guard open(before: first) else { return Outcome(trouble: trouble, lost: count) }
    guard count > 0 else { return Outcome(trouble: trouble) }
    do throws(RingFile.Failure) {
      let lost = try writer?.write(parts, from: first) ?? count
      settle()
      return Outcome(lost: lost)
    } catch {
      fails(error)
      return Outcome(trouble: trouble, lost: count)
    }
  }

  /// Opens the file if it is not open, and begins a life.
  ///
  /// - Parameter first: the number of the next entry in this life.
  private func open(before first: UInt64) -> Bool {
    if writer != nil { return true }
    guard retryAt <= clock.boot() else { return false }
    do throws(RingFile.Failure) {
      let file = try RingFile(path, bytes: bytes)
      tell(file.beginning)
      let marks = marks(after: file.beginning)
      lifeBegan = file.newest + 1
      var writer = RingWriter(file)
      _ = try writer.write([marks], from: RingWriter.numberOfMarks)
      self.writer = consume writer
      isBegun = true
      settle()
      return true
    } catch {
      fails(error)
      return false
    }
  }

  private func marks(after beginning: RingFile.Beginning) -> [TraceEntry] {
    let began = TraceEntry(at: clock.wall(), .began)
    let lost = TraceEntry(at: clock.wall(), .lost(nil))
    switch beginning {
    case .kept(isWhole: true) where !isBegun: return [began]
    case .kept: return isBegun ? [lost] : [lost, began]
    case .new, .anew: return isBegun ? [lost] : [began]
    }
  }

  private func tell(_ beginning: RingFile.Beginning) {
    guard case .anew(let why) = beginning else { return }
    logger.notice(
      "the trace begins anew, what it held is no longer known",
      metadata: ["file": "\(path)", "reason": "\(why)"])
  }

  private func fails(_ failure: RingFile.Failure) {
    let line =
      "the trace is not being written, so what happens now cannot be explained later: "
      + "\(failure.text); free room or correct the directory's rights, it is tried again"
    if trouble == nil { logger.error("trace not written", metadata: ["error": "\(failure.text)"]) }
    trouble = line
    writer = nil
    retryAt = clock.boot() + .seconds(5)
  }

  private func settle() {
    if trouble != nil { logger.notice("trace is written again", metadata: ["file": "\(path)"]) }
    trouble = nil
  }

  func reader(through place: UInt64) -> RingReader? {
    guard let blocks = writer?.blocks, let newest = writer?.newest else { return nil }
    return RingReader(path, blocks: blocks, newest: newest, lifeBegan: lifeBegan, place: place)
  }

  func end(at number: UInt64) {
    do throws(RingFile.Failure) {
      try writer?.end(at: number)
    } catch {
      fails(error)
    }
  }
}
