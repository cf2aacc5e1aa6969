import Glibc

/// The recorder's file on disk, opened for reading and writing. It has one size for its whole life.
struct RingFile: ~Copyable {
  let descriptor: Int32
  let blocks: Int
  /// Where the next frame of the newest block begins; `end.sequence` is 0 if there is no block.
  private(set) var end: RingLayout.BlockEnd
  /// Whether the file keeps entries of earlier lives, is new, or was made anew (and why).
  let beginning: Beginning

  enum Beginning: Equatable {
    case new
    /// The entries of earlier lives are kept. The number is that of the life that ended cleanly at
    /// the end of the file; `nil` means that the last life did not.
    case kept(ended: UInt64?)
    /// The file was made anew, for this reason.
    case anew(String)

    var isKept: Bool { if case .kept = self { true } else { false } }
    var givenUp: String? { if case .anew(let why) = self { why } else { nil } }
  }

  struct Failure: Error {
    var operation: String
    var code: Int32
    /// Why the file's entries were given up before the failure; nil if they were not.
    var givenUp: String?
    var text: String { "\(operation): \(String(cString: strerror(code)))" }
  }

  private static let noBlock = RingLayout.BlockEnd(sequence: 0, offset: RingLayout.blockBytes)

  /// Opens the file, or makes it.
  init(_ path: String, bytes: Int) throws(Failure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw Failure(operation: "open \(path)", code: errno) }
    // A file that was made with another umask, or copied, may be open to other users.
    _ = fchmod(descriptor, 0o600)
    let blocks = RingLayout.blocks(in: bytes)
    let (beginning, end) = try Self.begin(descriptor, blocks: blocks)
    (self.descriptor, self.blocks) = (descriptor, blocks)
    (self.beginning, self.end) = (beginning, end)
  }

  /// Finds where the newest block ends, or makes the file anew. If making the file fails, the file
  /// is closed.
  private static func begin(
    _ descriptor: Int32, blocks: Int
  ) throws(Failure) -> (Beginning, RingLayout.BlockEnd) {
    var beginning = beginning(of: descriptor, blocks: blocks)
    if beginning.isKept {
      let last = last(in: descriptor, blocks: blocks)
      if last.end.sequence > 0 { return (.kept(ended: last.ended), last.end) }
      guard isWritten(descriptor, blocks: blocks) else { return (.new, noBlock) }
      beginning = .anew("all its blocks are damaged")
    }
    do throws(Failure) {
      try make(descriptor, blocks: blocks, givenUp: beginning.givenUp)
    } catch {
      close(descriptor)
      throw error
    }
    return (beginning, noBlock)
  }

  deinit { close(descriptor) }

  /// Decides from the file's size and head whether the file is kept. The blocks of a kept file are
  /// not looked at.
  private static func beginning(of descriptor: Int32, blocks: Int) -> Beginning {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .anew("its size cannot be read") }
    if status.st_size == 0 { return .new }
    guard let head = head(of: descriptor) else { return .anew("its head cannot be read") }
    let size = RingLayout.offset(ofBlock: blocks)
    let isOurs = head.withUnsafeBytes { $0.word(at: 0) == RingLayout.magic }
    guard isOurs else {
      // A crash while the file was made leaves zeroes.
      let isBlank = head.allSatisfy { $0 == 0 } && !isWritten(descriptor, blocks: blocks)
      return isBlank ? .new : .anew("it is damaged")
    }
    guard head == RingLayout.head(blocks: blocks), Int(status.st_size) == size else {
      return .anew("it has another size, or another version wrote it")
    }
    return .kept(ended: nil)
  }

  /// Reads bytes of the file. Bytes that cannot be read are zeroes in the result.
  ///
  /// - Returns: the bytes, and how many were read; below zero if reading failed.
  static func read(
    _ count: Int, at offset: Int, of descriptor: Int32
  ) -> (bytes: [UInt8], count: Int) {
    var bytes = [UInt8](repeating: 0, count: count)
    let read = pread(descriptor, &bytes, count, off_t(offset))
    return (bytes, read)
  }

  private static func head(of descriptor: Int32) -> [UInt8]? {
    let head = read(32, at: 0, of: descriptor)
    return head.count == head.bytes.count ? head.bytes : nil
  }

  /// Whether the first bytes of any block are not zero, or cannot be read. In a file that was just
  /// made, these bytes are zero.
  private static func isWritten(_ descriptor: Int32, blocks: Int) -> Bool {
    (0..<blocks).contains { index in
      let head = read(
        RingLayout.blockHeadBytes, at: RingLayout.offset(ofBlock: index), of: descriptor)
      return head.count < 0 || head.bytes.contains { $0 != 0 }
    }
  }

  private static func make(
    _ descriptor: Int32, blocks: Int, givenUp why: String?
  ) throws(Failure) {
    guard ftruncate(descriptor, 0) == 0 else {
      throw Failure(operation: "ftruncate", code: errno, givenUp: why)
    }
    // The disk gives the room for the whole file at once, so that later writes do not lack room.
    let code = posix_fallocate(descriptor, 0, off_t(RingLayout.offset(ofBlock: blocks)))
    guard code == 0 else {
      // The room that was taken is given back: the next try finds an empty file.
      _ = ftruncate(descriptor, 0)
      throw Failure(operation: "fallocate", code: code, givenUp: why)
    }
    let head = RingLayout.head(blocks: blocks)
    guard pwrite(descriptor, head, head.count, 0) == head.count else {
      throw Failure(operation: "write", code: errno, givenUp: why)
    }
  }

  /// Where the newest block ends, and the life that ended cleanly there. A frame that a
  /// crash left half written does not count, and the next one is written over it.
  private static func last(
    in descriptor: Int32, blocks: Int
  ) -> (end: RingLayout.BlockEnd, ended: UInt64?) {
    var newest: UInt64 = 0
    for index in 0..<blocks {
      if let sequence = sequence(of: index, in: descriptor) { newest = max(newest, sequence) }
    }
    guard newest > 0 else { return (noBlock, nil) }
    guard let block = RingBlock(newest, in: descriptor, blocks: blocks) else {
      return (RingLayout.BlockEnd(sequence: newest, offset: RingLayout.blockBytes), nil)
    }
    return (block.end, block.frames.last.flatMap { block.endedLife($0) })
  }

  private static func sequence(of index: Int, in descriptor: Int32) -> UInt64? {
    let head = read(
      RingLayout.blockHeadBytes, at: RingLayout.offset(ofBlock: index), of: descriptor)
    guard head.count == head.bytes.count else { return nil }
    let found = head.bytes.withUnsafeBytes { RingLayout.sequence(of: $0) }
    guard let sequence = found else { return nil }
    // No relay reaches `sequenceEnd`; a block with this sequence or a higher one is damaged, or was
    // made by hand.
    return sequence < RingLayout.sequenceEnd ? sequence : nil
  }

  /// Whether this file is still the one at the path, has the same size, and ends with the frame
  /// that was written last. An operator may have removed the file, or put another file in its
  /// place.
  func isStill(at path: String) -> Bool {
    var (own, named) = (stat(), stat())
    guard fstat(descriptor, &own) == 0, stat(path, &named) == 0 else { return false }
    return own.st_ino == named.st_ino && own.st_dev == named.st_dev
      && Int(own.st_size) == RingLayout.offset(ofBlock: blocks) && endsAsWritten
  }

  /// Whether the newest block still ends with the bytes that this process wrote. Size and inode do
  /// not tell: both stay the same if somebody copies another file over this one.
  private var endsAsWritten: Bool {
    guard Self.head(of: descriptor) == RingLayout.head(blocks: blocks) else { return false }
    guard end.sequence > 0 else { return true }
    let block = RingLayout.offset(of: end.sequence, blocks: blocks)
    let isBlock = Self.read(RingLayout.blockHeadBytes, at: block, of: descriptor).bytes
      .withUnsafeBytes { RingLayout.sequence(of: $0) == end.sequence }
    guard let frame = end.frame else { return isBlock }
    let last = Self.read(RingLayout.frameHeadBytes, at: block + frame, of: descriptor).bytes
    return isBlock && last.withUnsafeBytes { $0.word(at: 24) } == end.checksum
  }

  /// Appends a frame, in the next block if the newest one has no room for it.
  ///
  /// - Precondition: head and payload together have at most `frameBytesMax` bytes.
  mutating func append(
    _ head: RingLayout.FrameHead, _ payload: [UInt8]
  ) throws(Failure) {
    let length = RingLayout.frameHeadBytes + payload.count
    if end.offset + length > RingLayout.blockBytes {
      let next = RingLayout.BlockEnd(sequence: end.sequence + 1)
      try write(RingLayout.blockHead(next.sequence), at: 0, in: next.sequence)
      end = next
    }
    let checksum = payload.withUnsafeBytes { head.checksum($0, behind: end) }
    try write(head.bytes(checksum: checksum) + payload, at: end.offset, in: end.sequence)
    end.add(head, checksum: checksum)
  }

  /// Writes bytes into a block.
  private func write(_ bytes: [UInt8], at offset: Int, in sequence: UInt64) throws(Failure) {
    let place = off_t(RingLayout.offset(of: sequence, blocks: blocks) + offset)
    let written = pwrite(descriptor, bytes, bytes.count, place)
    guard written == bytes.count else {
      throw Failure(operation: "write", code: written < 0 ? errno : ENOSPC)
    }
  }
}
