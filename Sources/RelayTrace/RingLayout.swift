/// Where the parts of the recorder's file stand, and how half-written parts are recognised.
///
/// ```
/// head │ block │ block │ block …        blocks are written one after the other, round and round
///        └ sequence │ frame │ frame …   a frame holds entries, and is never changed once written
/// ```
///
/// A frame's checksum covers the sequence of its block and the checksum of the frame before. So
/// bytes of an earlier round, a frame that a crash left half written, and all bytes behind such a
/// frame do not count as frames.
enum RingLayout {
  static let version: UInt32 = 4
  static let headBytes = 4_096
  static let blockBytes = 65_536
  static let blockHeadBytes = 32
  static let frameHeadBytes = 32
  /// The most bytes of one frame, its head included.
  static let frameBytesMax = blockBytes - blockHeadBytes
  /// The most bytes of a frame's entries.
  static let payloadMax = frameBytesMax - frameHeadBytes

  static let magic: UInt64 = 0x3143_4152_5452_5a21
  static let blockMagic: UInt64 = 0x4b4c_4254_525a_0001

  /// How many blocks fit into a file of this size.
  static func blocks(in bytes: Int) -> Int { max(0, (bytes - headBytes) / blockBytes) }

  /// Sequences begin at 1 and rise by 1 with each block. To reach this sequence would take longer
  /// than any disk lasts.
  static let sequenceEnd: UInt64 = 1 << 62

  static func offset(ofBlock index: Int) -> Int { headBytes + index * blockBytes }

  /// Where the `sequence`th block that is written begins.
  static func offset(of sequence: UInt64, blocks: Int) -> Int {
    offset(ofBlock: Int((sequence - 1) % UInt64(blocks)))
  }

  /// What a frame is for.
  enum FrameKind: UInt8 {
    /// Entries that the recorder has taken during one life of the daemon; these entries are
    /// numbered.
    case entries
    /// A life of the daemon ended cleanly with this frame, so no entry is missing at the end of
    /// that life. The frame holds the life's number.
    case end
    /// Entries that the recorder made when it opened the file; these entries have no number.
    case marks
  }

  /// The head of a frame, which comes before the frame's entries.
  struct FrameHead: Equatable {
    var kind: FrameKind
    /// The number that the frame's first entry has in its life of the daemon; in a frame without
    /// numbered entries, the number of the entry that comes next.
    var first: UInt64
    var count: UInt32
    var length: UInt32

    func bytes(checksum: UInt64) -> [UInt8] {
      [UInt8](words: [
        UInt64(length) | UInt64(kind.rawValue) << 32, first, UInt64(count), checksum,
      ])
    }

    /// - Parameters:
    ///   - end: where the frame before ends, and its checksum.
    func checksum(_ payload: UnsafeRawBufferPointer, behind end: BlockEnd) -> UInt64 {
      var sum = Checksum(end.sequence)
      sum.add(end.checksum)
      sum.add(first)
      sum.add(UInt64(count))
      sum.add(UInt64(length) << 8 | UInt64(kind.rawValue))
      sum.add(payload)
      return sum.value
    }
  }

  /// Where the next frame of a block begins, and the checksum of the block's last frame; the
  /// checksum is 0 if the block has no frame.
  struct BlockEnd: Equatable {
    var sequence: UInt64
    var offset = blockHeadBytes
    /// Where the block's last frame begins; `nil` if the block has no frame.
    private(set) var frame: Int?
    private(set) var checksum: UInt64 = 0

    /// Moves the end behind a frame with this head.
    mutating func add(_ head: FrameHead, checksum: UInt64) {
      frame = offset
      offset += frameHeadBytes + Int(head.length)
      self.checksum = checksum
    }
  }

  /// A checksum against damage, not against forgery.
  struct Checksum {
    private(set) var value: UInt64

    init(_ seed: UInt64) { value = seed ^ 0x9e37_79b9_7f4a_7c15 }

    mutating func add(_ word: UInt64) {
      value = (value ^ word) &* 0xbf58_476d_1ce4_e5b9
      value ^= value >> 29
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
      var place = 0
      while place + 8 <= bytes.count {
        add(bytes.word(at: place))
        place += 8
      }
      var rest: UInt64 = 1
      for byte in bytes[place...] { rest = rest << 8 | UInt64(byte) }
      add(rest)
    }
  }

  /// The head of a file with this many blocks.
  static func head(blocks: Int) -> [UInt8] { sealed([magic, UInt64(version), UInt64(blocks)]) }

  /// The head of the `sequence`th block that is written; the first is 1.
  static func blockHead(_ sequence: UInt64) -> [UInt8] { sealed([blockMagic, sequence, 0]) }

  /// The bytes of the words, followed by the checksum of these bytes.
  private static func sealed(_ words: [UInt64]) -> [UInt8] {
    let bytes = [UInt8](words: words)
    var sum = Checksum(0)
    bytes.withUnsafeBytes { sum.add($0) }
    return bytes + [UInt8](words: [sum.value])
  }

  /// The sequence of a block; nil if the bytes are no head of a block.
  static func sequence(of bytes: UnsafeRawBufferPointer) -> UInt64? {
    guard bytes.count >= blockHeadBytes else { return nil }
    let sequence = bytes.word(at: 8)
    return bytes.starts(with: blockHead(sequence)) && sequence > 0 ? sequence : nil
  }
}

extension RingLayout.FrameHead {
  /// - Returns: nil if the bytes are no head.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count >= RingLayout.frameHeadBytes else { return nil }
    let word = bytes.word(at: 0)
    guard let number = UInt8(exactly: word >> 32),
      let kind = RingLayout.FrameKind(rawValue: number),
      let count = UInt32(exactly: bytes.word(at: 16))
    else { return nil }
    self.init(
      kind: kind, first: bytes.word(at: 8), count: count, length: UInt32(truncatingIfNeeded: word))
  }
}

extension [UInt8] {
  /// The bytes of the words, each with its lowest byte first.
  init(words: [UInt64]) {
    self = words.map(\.littleEndian).withUnsafeBytes { [UInt8]($0) }
  }
}

extension UnsafeRawBufferPointer {
  func word(at offset: Int) -> UInt64 {
    UInt64(littleEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
