import Glibc
import RelayCore
import RelayEngine

/// Reads the blocks of the recorder's file while the writer goes on. A block that the writer has
/// written over meanwhile is left out: it was the oldest.
final class RingReader: Sendable {
  private let descriptor: Int32
  private let blocks: Int
  private let newest: UInt64
  /// The block in which this life began, and how many of its entries may be given.
  private let lifeBegan: UInt64
  private let place: UInt64

  /// - Returns: nil if the file cannot be opened.
  init?(_ path: String, blocks: Int, newest: UInt64, lifeBegan: UInt64, place: UInt64) {
    descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    (self.blocks, self.newest) = (blocks, newest)
    (self.lifeBegan, self.place) = (lifeBegan, place)
  }

  deinit { close(descriptor) }

  /// Gives the entries of one frame at a time to `body` until it returns false.
  func read(_ body: ([TraceEntry]) -> Bool) {
    let oldest = newest > UInt64(blocks) ? newest - UInt64(blocks) + 1 : 1
    guard newest > 0 else { return }
    var isBegun = false
    for sequence in oldest...newest {
      guard let block = RingBlock(sequence, in: descriptor, blocks: blocks) else {
        // In the middle, a block that cannot be read was torn or damaged.
        if isBegun, !body([Self.gap]) { return }
        continue
      }
      isBegun = true
      for frame in block.frames {
        guard let entries = entries(of: frame, in: block, sequence) else {
          if !body([Self.gap]) { return }
          continue
        }
        if !entries.isEmpty, !body(entries) { return }
      }
    }
  }

  /// The time of a gap does not matter: the entries around it tell when it was.
  private static let gap = TraceEntry(at: .zero, .lost(nil))

  private func entries(
    of frame: RingBlock.Frame, in block: RingBlock, _ sequence: UInt64
  ) -> [TraceEntry]? {
    var count = Int(frame.head.count)
    if count == 0 { return [] }
    if sequence >= lifeBegan, frame.head.first != RingWriter.numberOfMarks {
      guard frame.head.first < place else { return [] }
      let wanted = Int(min(UInt64(count), place - frame.head.first))
      if wanted < count { count = wanted }
    }
    var reader = EntryReader(block.payload(of: frame))
    // A frame that another version of the program wrote is a gap.
    guard let all = try? reader.entries(Int(frame.head.count)) else { return nil }
    return Array(all.prefix(count))
  }
}
