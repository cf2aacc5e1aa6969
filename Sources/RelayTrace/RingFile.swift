import Glibc

/// The recorder's file on disk, opened for reading and writing. It has one size for its whole life.
struct RingFile: ~Copyable {
  let descriptor: Int32
  let blocks: Int
  /// The sequence of the newest block; 0 if there is none.
  private(set) var newest: UInt64
  /// Whether the file already held entries of an earlier life, and why they were given up.
  let beginning: Beginning

  enum Beginning: Equatable {
    case new
    /// The entries of earlier lives are kept. `isWhole` says whether the last life ended cleanly.
    case kept(isWhole: Bool)
    /// The file was made anew, for this reason.
    case anew(String)
  }

  struct Failure: Error {
    var operation: String
    var code: Int32
    var text: String { "\(operation): \(String(cString: strerror(code)))" }
  }

  private init(_ descriptor: Int32, blocks: Int, newest: UInt64, _ beginning: Beginning) {
    (self.descriptor, self.blocks) = (descriptor, blocks)
    (self.newest, self.beginning) = (newest, beginning)
  }

  /// Opens the file, or makes it.
  init(_ path: String, bytes: Int) throws(Failure) {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Failure(operation: "open \(path)", code: errno) }
    // A file of an older umask or a copy may be open to others.
    _ = fchmod(descriptor, 0o600)
    let blocks = RingLayout.blocks(in: bytes)
    let state = Self.state(of: descriptor, blocks: blocks)
    if case .good = state {
      let last = Self.last(in: descriptor, blocks: blocks)
      self.init(
        descriptor, blocks: blocks, newest: last.sequence,
        last.sequence == 0 ? .new : .kept(isWhole: last.isWhole))
      return
    }
    do throws(Failure) {
      try Self.make(descriptor, blocks: blocks)
    } catch {
      close(descriptor)
      throw error
    }
    guard case .unusable(let why) = state else {
      self.init(descriptor, blocks: blocks, newest: 0, .new)
      return
    }
    self.init(descriptor, blocks: blocks, newest: 0, .anew(why))
  }

  deinit { close(descriptor) }

  private enum State {
    case good
    case empty
    case unusable(String)
  }

  private static func state(of descriptor: Int32, blocks: Int) -> State {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .unusable("its size cannot be read") }
    if status.st_size == 0 { return .empty }
    var head = [UInt8](repeating: 0, count: 32)
    guard pread(descriptor, &head, head.count, 0) == head.count else {
      return .unusable("its head cannot be read")
    }
    let size = RingLayout.offset(ofBlock: blocks)
    let isOurs = head.withUnsafeBytes { $0.word(at: 0) == RingLayout.magic }
    guard isOurs else { return .unusable("it is damaged") }
    guard head == RingLayout.head(blocks: blocks), Int(status.st_size) == size else {
      return .unusable("it has another size, or another version wrote it")
    }
    return .good
  }

  private static func make(_ descriptor: Int32, blocks: Int) throws(Failure) {
    guard ftruncate(descriptor, 0) == 0 else {
      throw Failure(operation: "ftruncate", code: errno)
    }
    // The whole file is taken from the disk at once, so that later writes find their room.
    let code = posix_fallocate(descriptor, 0, off_t(RingLayout.offset(ofBlock: blocks)))
    guard code == 0 else {
      // What was taken is given back: a file that is too short would look like a good one of
      // another size.
      _ = ftruncate(descriptor, 0)
      throw Failure(operation: "fallocate", code: code)
    }
    let head = RingLayout.head(blocks: blocks)
    guard pwrite(descriptor, head, head.count, 0) == head.count else {
      throw Failure(operation: "write", code: errno)
    }
  }

  /// The newest block's sequence, and whether the life that wrote it ended cleanly.
  private static func last(in descriptor: Int32, blocks: Int) -> (sequence: UInt64, isWhole: Bool) {
    var newest: UInt64 = 0
    for index in 0..<blocks {
      if let sequence = sequence(of: index, in: descriptor) { newest = max(newest, sequence) }
    }
    guard newest > 0, let block = RingBlock(newest, in: descriptor, blocks: blocks) else {
      return (newest, false)
    }
    return (newest, block.frames.last?.head.isLast ?? false)
  }

  private static func sequence(of index: Int, in descriptor: Int32) -> UInt64? {
    var head = [UInt8](repeating: 0, count: RingLayout.blockHeadBytes)
    let offset = off_t(RingLayout.offset(ofBlock: index))
    guard pread(descriptor, &head, head.count, offset) == head.count else { return nil }
    guard let sequence = head.withUnsafeBytes({ RingLayout.sequence(of: $0) }) else { return nil }
    // No relay comes so far; a file that says so is damaged, or was made by hand.
    return sequence < RingLayout.sequenceEnd ? sequence : nil
  }

  /// Begins the next block, over the oldest one.
  mutating func beginBlock() throws(Failure) {
    try write(RingLayout.blockHead(newest + 1), at: 0, in: newest + 1)
    newest += 1
  }

  /// Writes bytes into a block.
  func write(_ bytes: [UInt8], at offset: Int, in sequence: UInt64) throws(Failure) {
    let index = Int((sequence - 1) % UInt64(blocks))
    let place = off_t(RingLayout.offset(ofBlock: index) + offset)
    let written = pwrite(descriptor, bytes, bytes.count, place)
    guard written == bytes.count else {
      throw Failure(operation: "write", code: written < 0 ? errno : ENOSPC)
    }
  }
}

/// One block as it was read, with its good frames.
struct RingBlock {
  struct Frame {
    var head: RingLayout.FrameHead
    var payload: Range<Int>
  }

  private(set) var bytes: [UInt8]
  private(set) var frames: [Frame] = []

  /// - Returns: nil if the block with this sequence is not there, or not any more.
  init?(_ sequence: UInt64, in descriptor: Int32, blocks: Int) {
    bytes = [UInt8](repeating: 0, count: RingLayout.blockBytes)
    let index = Int((sequence - 1) % UInt64(blocks))
    let offset = off_t(RingLayout.offset(ofBlock: index))
    let count = pread(descriptor, &bytes, bytes.count, offset)
    guard count == bytes.count else { return nil }
    let isThere = bytes.withUnsafeBytes { RingLayout.sequence(of: $0) } == sequence
    guard isThere else { return nil }
    frames = bytes.withUnsafeBytes { Self.frames(in: $0, of: sequence) }
  }

  private static func frames(in bytes: UnsafeRawBufferPointer, of sequence: UInt64) -> [Frame] {
    var frames: [Frame] = []
    var place = RingLayout.blockHeadBytes
    while let head = RingLayout.FrameHead(UnsafeRawBufferPointer(rebasing: bytes[place...])) {
      let start = place + RingLayout.frameHeadBytes
      let end = start + Int(head.length)
      guard end <= bytes.count, head.length > 0 || head.isLast else { break }
      let payload = UnsafeRawBufferPointer(rebasing: bytes[start..<end])
      guard bytes.word(at: place + 24) == head.checksum(payload, in: sequence) else { break }
      frames.append(Frame(head: head, payload: start..<end))
      place = end
    }
    return frames
  }

  func payload(of frame: Frame) -> [UInt8] { Array(bytes[frame.payload]) }
}
