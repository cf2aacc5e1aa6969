import RelayCore
import RelayEngine

/// Appends entries to the recorder's file, frame by frame. It lives on the recorder's own queue.
struct RingWriter: ~Copyable {
  private var file: RingFile
  /// Where the next frame begins in the newest block.
  private var place = RingLayout.blockBytes
  private var frame = EntryWriter()
  private var first: UInt64 = 0

  /// An estimate beyond which a frame is written, well below what a block holds.
  private static let frameFull = RingLayout.frameBytesMax / 4
  /// A single entry whose bytes do not fit into a block is left out and counted as lost.
  private(set) var tooLarge = 0

  init(_ file: consuming RingFile) { self.file = file }

  /// The number of entries that the recorder itself makes when a life begins.
  static let numberOfMarks = UInt64.max

  var blocks: Int { file.blocks }
  var newest: UInt64 { file.newest }

  /// Writes entries, the first of which is the `number`th of this life.
  ///
  /// - Returns: how many entries were too large for a block and left out.
  mutating func write(
    _ parts: [[TraceEntry]], from number: UInt64
  ) throws(RingFile.Failure) -> Int {
    tooLarge = 0
    first = number
    frame = EntryWriter()
    for part in parts {
      for entry in part {
        frame.write(entry)
        if frame.bytes.bytes.count >= Self.frameFull { try flush(isLast: false) }
      }
    }
    if frame.count > 0 { try flush(isLast: false) }
    return tooLarge
  }

  /// Writes the mark that nothing is missing at the end of this life.
  mutating func end(at number: UInt64) throws(RingFile.Failure) {
    (first, frame) = (number, EntryWriter())
    try flush(isLast: true)
  }

  private mutating func flush(isLast: Bool) throws(RingFile.Failure) {
    let payload = frame.bytes.bytes
    let count = frame.count
    defer {
      first &+= UInt64(count)
      frame = EntryWriter()
    }
    let length = RingLayout.frameHeadBytes + payload.count
    guard length <= RingLayout.frameBytesMax else {
      tooLarge += count
      return
    }
    if place + length > RingLayout.blockBytes {
      try file.beginBlock()
      place = RingLayout.blockHeadBytes
    }
    let head = RingLayout.FrameHead(
      first: first, count: UInt32(count), length: UInt32(payload.count), isLast: isLast)
    let checksum = payload.withUnsafeBytes { head.checksum($0, in: file.newest) }
    try file.write(head.bytes(checksum: checksum) + payload, at: place, in: file.newest)
    place += length
  }
}
