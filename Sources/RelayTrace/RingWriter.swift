import RelayCore
import RelayEngine

/// Appends frames to the recorder's file. Only the recorder's own queue uses a writer.
struct RingWriter: ~Copyable {
  private var file: RingFile
  /// How many frames the last call of `write` has brought into the file.
  private(set) var written = 0

  init(_ file: consuming RingFile) { self.file = file }

  var blocks: Int { file.blocks }
  /// Where the next frame begins, if the newest block has room for it.
  var end: RingLayout.BlockEnd { file.end }

  func isStill(at path: String) -> Bool { file.isStill(at: path) }

  /// Writes entries that the recorder itself makes when it opens the file.
  ///
  /// - Parameter number: the number of the life's next entry.
  mutating func write(marks: [TraceEntry], before number: UInt64) throws(RingFile.Failure) {
    var frame = TraceFrame()
    for batch in TraceBatch.of(marks) { frame.append(batch) }
    try append(.marks, number, frame.count, frame.bytes)
  }

  mutating func write(_ frames: [WaitingFrames.Frame]) throws(RingFile.Failure) {
    written = 0
    for frame in frames {
      try append(.entries, frame.first, frame.count, frame.payload)
      written += 1
    }
  }

  /// Writes the frame that says that this life has ended cleanly, with no entry missing at its end.
  mutating func end(_ life: UInt64, at number: UInt64) throws(RingFile.Failure) {
    try append(.end, number, 0, [UInt8](words: [life]))
  }

  private mutating func append(
    _ kind: RingLayout.FrameKind, _ first: UInt64, _ count: Int, _ payload: [UInt8]
  ) throws(RingFile.Failure) {
    let head = RingLayout.FrameHead(
      kind: kind, first: first, count: UInt32(count), length: UInt32(payload.count))
    try file.append(head, payload)
  }
}
