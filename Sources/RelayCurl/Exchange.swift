import Synchronization

/// The state of one exchange that libcurl's callbacks use, and that lets the caller cancel it.
final class Exchange: Sendable {
  let bytesMax: Int
  private let taken = Mutex<[UInt8]>([])
  private let flag = Atomic(false)

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  var body: [UInt8] { taken.withLock { $0 } }
  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Cancels the exchange: the caller no longer wants the answer.
  func cancel() { flag.store(true, ordering: .relaxed) }

  /// Appends bytes to the body, or takes none if the body would become longer than `bytesMax`.
  ///
  /// - Returns: how many bytes were taken. If this is fewer than given, libcurl ends the exchange.
  func take(_ bytes: UnsafeRawBufferPointer) -> Int {
    taken.withLock { body in
      guard body.count + bytes.count <= bytesMax else { return 0 }
      body.append(contentsOf: bytes)
      return bytes.count
    }
  }
}
