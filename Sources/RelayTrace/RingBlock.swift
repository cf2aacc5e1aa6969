/// One block as it was read, with its good frames.
struct RingBlock {
  struct Frame {
    var head: RingLayout.FrameHead
    var payload: Range<Int>

    /// The number that the next entry after this frame has, in the same life of the daemon.
    var next: UInt64 { head.kind == .marks ? head.first : head.first &+ UInt64(head.count) }
  }

  private(set) var bytes: [UInt8]
  private(set) var frames: [Frame] = []
  /// Where the last good frame ends.
  private(set) var end: RingLayout.BlockEnd

  /// - Returns: nil if the block with this sequence is not there, or not any more.
  init?(_ sequence: UInt64, in descriptor: Int32, blocks: Int) {
    end = RingLayout.BlockEnd(sequence: sequence)
    let offset = RingLayout.offset(of: sequence, blocks: blocks)
    let block = RingFile.read(RingLayout.blockBytes, at: offset, of: descriptor)
    bytes = block.bytes
    guard block.count == bytes.count else { return nil }
    let isThere = bytes.withUnsafeBytes { RingLayout.sequence(of: $0) } == sequence
    guard isThere else { return nil }
    bytes.withUnsafeBytes { Self.read($0, into: &frames, &end) }
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, into frames: inout [Frame], _ end: inout RingLayout.BlockEnd
  ) {
    while let head = RingLayout.FrameHead(UnsafeRawBufferPointer(rebasing: bytes[end.offset...])) {
      let start = end.offset + RingLayout.frameHeadBytes
      let next = start + Int(head.length)
      guard next <= bytes.count, head.length > 0 else { break }
      let payload = UnsafeRawBufferPointer(rebasing: bytes[start..<next])
      let checksum = head.checksum(payload, behind: end)
      guard bytes.word(at: end.offset + 24) == checksum else { break }
      frames.append(Frame(head: head, payload: start..<next))
      end.add(head, checksum: checksum)
    }
  }

  /// The life that ended cleanly with this frame.
  func endedLife(_ frame: Frame) -> UInt64? {
    guard frame.head.kind == .end, frame.payload.count == 8 else { return nil }
    return bytes.withUnsafeBytes { $0.word(at: frame.payload.lowerBound) }
  }

  func payload(of frame: Frame) -> [UInt8] { Array(bytes[frame.payload]) }
}
