import Synchronization

/// The state of one exchange, which libcurl's callbacks and the caller share: the body so far, and
/// whether the caller has cancelled.
final class Exchange: Sendable {
  let bytesMax: Int
  /// Takes the body of a successful answer piece by piece; returns false to end the exchange.
  private let stream: (@Sendable (UnsafeRawBufferPointer) -> Bool)?
  private let taken = Mutex<[UInt8]>([])
  private let flag = Atomic(false)

  /// - Parameter stream: `nil` means that the exchange keeps the body.
  init(bytesMax: Int, stream: (@Sendable (UnsafeRawBufferPointer) -> Bool)? = nil) {
    (self.bytesMax, self.stream) = (bytesMax, stream)
  }

  var body: [UInt8] { taken.withLock { $0 } }
  var isCancelled: Bool { flag.load(ordering: .relaxed) }

  /// Cancels the exchange: the caller no longer wants the answer.
  func cancel() { flag.store(true, ordering: .relaxed) }

  /// Appends bytes to the body, or takes none if the body would become longer than `bytesMax`.
  ///
  /// - Parameter isSuccess: whether the answer's status is a success; only then the body streams.
  /// - Returns: how many bytes were taken. If this is fewer than given, libcurl ends the exchange.
  func take(_ bytes: UnsafeRawBufferPointer, isSuccess: Bool) -> Int {
    if isSuccess, let stream {
      if stream(bytes) { return bytes.count }
      cancel()
      return 0
    }
    return taken.withLock { body in
      guard body.count + bytes.count <= bytesMax else { return 0 }
      body.append(contentsOf: bytes)
      return bytes.count
    }
  }
}
