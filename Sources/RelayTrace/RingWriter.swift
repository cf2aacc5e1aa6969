import RelayCore
import RelayEngine

/// Appends entries to the recorder's file, frame by frame. It lives on the recorder's own queue.
struct RingWriter: ~Copyable {
  private var file: RingFile
  private var frame = EntryWriter()
  private var first: UInt64 = 0
  /// How many entries of the last call are in the file, and how many of the call were left out,
  /// because one of them alone does not fit into a block.
  private(set) var written = 0
  private(set) var tooLarge = 0

  /// An estimate beyond which a frame is written, well below what a block holds.
  private static let frameFull = RingLayout.frameBytesMax / 4
  /// The most bytes of a frame's entries.
  static let payloadMax = RingLayout.frameBytesMax - RingLayout.frameHeadBytes

  init(_ file: consuming RingFile) { self.file = file }

  var blocks: Int { file.blocks }
  /// Where the next frame begins, if the newest block has room for it.
  var end: RingLayout.BlockEnd { file.end }

  func isStill(at path: String) -> Bool { file.isStill(at: path) }

  /// Writes entries that the recorder itself makes when it opens the file.
  ///
  /// - Parameter number: the number of the life's next entry.
  mutating func write(marks: [TraceEntry], before number: UInt64) throws(RingFile.Failure) {
    (first, frame) = (number, EntryWriter())
    for mark in marks { frame.write(mark) }
    try flush(.marks)
  }

  /// Writes entries, the first of which is the `number`th of this life. An entry that does not fit
  /// into a block is written as an entry that says that one is lost.
  mutating func write(_ parts: [[TraceEntry]], from number: UInt64) throws(RingFile.Failure) {
    (written, tooLarge) = (0, 0)
    (first, frame) = (number, EntryWriter())
    for part in parts {
      for entry in part {
        let before = frame.bytes.bytes.count
        frame.write(entry)
        if frame.bytes.bytes.count > Self.payloadMax { try write(alone: entry, behind: before) }
        if frame.bytes.bytes.count >= Self.frameFull { try flush(.entries) }
      }
    }
    if frame.count > 0 { try flush(.entries) }
  }

  /// Writes what the frame held before the entry, and begins the next frame with the entry.
  private mutating func write(
    alone entry: TraceEntry, behind before: Int
  ) throws(RingFile.Failure) {
    if frame.count > 1 { try flush(.entries, without: 1, bytes: before) }
    frame = EntryWriter()
    frame.write(entry)
    guard frame.bytes.bytes.count > Self.payloadMax else { return }
    tooLarge += 1
    frame = EntryWriter()
    frame.write(TraceEntry(at: entry.at, .lost(1)))
  }

  /// Writes the mark that nothing is missing at the end of this life.
  mutating func end(_ life: UInt64, at number: UInt64) throws(RingFile.Failure) {
    var payload: [UInt8] = []
    payload.append(word: life)
    try file.append(
      RingLayout.FrameHead(.end, first: number, count: 0, length: UInt32(payload.count)), payload)
  }

  /// - Parameters:
  ///   - left: how many entries at the end of the frame are left out.
  ///   - bytes: the bytes of the others; `nil` means all.
  private mutating func flush(
    _ kind: RingLayout.FrameKind, without left: Int = 0, bytes: Int? = nil
  ) throws(RingFile.Failure) {
    let all = frame.bytes.bytes
    let payload = bytes.map { Array(all.prefix($0)) } ?? all
    let count = frame.count - left
    try file.append(
      RingLayout.FrameHead(
        kind, first: first, count: UInt32(count), length: UInt32(payload.count)), payload)
    written += count
    if kind == .entries { first += UInt64(count) }
    frame = EntryWriter()
  }
}
