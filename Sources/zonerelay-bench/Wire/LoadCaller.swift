import NIOCore

/// What one keep-alive connection says. Called on the bench's one event loop only.
protocol LoadCaller: AnyObject, Sendable {
  /// The next request; `answer` is that to the one before, nil at the start.
  func next(after answer: LoadAnswer?) throws -> Turn
}

enum Turn {
  case send(ByteBuffer)
  /// Not before a moment. The answer's time is counted from that moment, even if the connection
  /// is late: a stalled server must not look fast because it was asked less.
  case sendAt(NIODeadline, ByteBuffer)
  case done
}

/// One request and its answer, for setting things up.
///
/// `@unchecked Sendable`: used on the bench's one event loop only.
final class SingleCall: LoadCaller, @unchecked Sendable {
  private let request: ByteBuffer
  private let promise: EventLoopPromise<LoadAnswer>

  init(_ request: ByteBuffer, promise: EventLoopPromise<LoadAnswer>) {
    self.request = request
    self.promise = promise
  }

  func next(after answer: LoadAnswer?) -> Turn {
    guard let answer else { return .send(request) }
    promise.succeed(answer)
    return .done
  }
}
