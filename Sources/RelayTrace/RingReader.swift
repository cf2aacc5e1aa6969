import Glibc
import RelayCore
import RelayEngine

/// Reads the blocks of the recorder's file while the writer goes on. A block that the writer has
/// written over meanwhile is left out: it was the oldest.
///
/// The numbers of the entries follow each other. Where one is missing in the file, for whatever
/// reason, the reader gives an entry `lost` in its place.
final class RingReader: Sendable {
  private let descriptor: Int32
  private let blocks: Int
  private let newest: UInt64
  private let life: Life

  /// Which entries of the present life a reader may get.
  struct Life {
    /// The block in which the life began to write after it last opened the file.
    var sequence: UInt64
    var offset: Int
    /// The end of what the reader gets: the number of the first entry after it.
    var place: UInt64
  }

  /// - Returns: nil if the file cannot be opened.
  init?(_ path: String, blocks: Int, newest: UInt64, _ life: Life) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    (self.blocks, self.newest, self.life) = (blocks, newest, life)
  }

  deinit { close(descriptor) }

  /// The time of a gap does not matter: the entries around it tell when it was.
  private static let gap = TraceEntry(at: .zero, .lost(nil))

  /// Gives the entries of one frame at a time to `body` until it returns false.
  func read(_ body: ([TraceEntry]) -> Bool) {
    let oldest = newest > UInt64(blocks) ? newest - UInt64(blocks) + 1 : 1
    guard newest > 0 else { return }
    var isBegun = false
    var next: UInt64?
    // The number that follows the last good frame of this life.
    var reached: UInt64 = 0
    for sequence in oldest...newest {
      guard let block = RingBlock(sequence, in: descriptor, blocks: blocks) else {
        // After the first block that can be read, a block that cannot be read is a gap: the block
        // was written over meanwhile, was half written by a crash, or is damaged.
        if isBegun, !body([Self.gap]) { return }
        next = nil
        continue
      }
      isBegun = true
      for frame in block.frames {
        let entries = entries(of: frame, in: block, sequence)
        if !follows(frame, entries, behind: next) || entries == nil, !body([Self.gap]) { return }
        next = frame.head.kind == .end ? nil : frame.next
        if isOfThisLife(frame, sequence) { reached = frame.next }
        if let entries, !entries.isEmpty, !body(entries) { return }
      }
    }
    // The last frames that this life wrote may be damaged: then they are a gap, too.
    if reached < life.place { _ = body([Self.gap]) }
  }

  private func isOfThisLife(_ frame: RingBlock.Frame, _ sequence: UInt64) -> Bool {
    (sequence, frame.payload.lowerBound) >= (life.sequence, life.offset)
  }

  /// Whether no frame is missing before this one.
  ///
  /// - Parameter next: the number that follows the frame before; `nil` if any may follow.
  private func follows(
    _ frame: RingBlock.Frame, _ entries: [TraceEntry]?, behind next: UInt64?
  ) -> Bool {
    guard let next else { return true }
    switch frame.head.kind {
    case .entries, .end: return frame.head.first == next
    // The frame before these marks is no `end` frame. A writer that opens a file and finds no `end`
    // frame writes `lost` among its marks. So if `lost` is not there, the writer found an `end`
    // frame, which is missing now.
    case .marks:
      return entries?.contains { if case .lost = $0.event { true } else { false } } ?? false
    }
  }

  private func entries(
    of frame: RingBlock.Frame, in block: RingBlock, _ sequence: UInt64
  ) -> [TraceEntry]? {
    var count = Int(frame.head.count)
    if count == 0 { return [] }
    if isOfThisLife(frame, sequence), frame.head.kind == .entries {
      guard frame.head.first < life.place else { return [] }
      let wanted = Int(min(UInt64(count), life.place - frame.head.first))
      if wanted < count { count = wanted }
    }
    var reader = EntryReader(block.payload(of: frame))
    // A frame that another version of the program wrote is a gap.
    guard let all = try? reader.entries(Int(frame.head.count)) else { return nil }
    return Array(all.prefix(count))
  }
}
