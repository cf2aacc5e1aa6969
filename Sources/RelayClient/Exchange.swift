import Synchronization

/// What libcurl's callbacks of one exchange work on, and the caller's way to give it up.
final class Exchange: Sendable {
  let bytesMax: Int
  private let taken = Mutex<[UInt8]>([])
  private let flag = Atomic(false)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  var body: [UInt8] { taken.withLock { $0 } }
  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// The caller no longer wants the answer.
  func cancel() { flag.store(true, ordering: .relaxed) }

  /// How many bytes were taken; fewer than given ends the exchange.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    taken.withLock { body in
      guard body.count + bytes.count <= bytesMax else { return 0 }
      body.append(contentsOf: bytes)
      return bytes.count
    }
  }
}
