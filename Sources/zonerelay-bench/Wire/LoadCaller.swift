import NIOCore

/// A caller, which supplies the requests of one keep-alive connection. Callers run on the bench's
/// one event loop only.
protocol LoadCaller: AnyObject, Sendable {
  /// The next request. `answer` is the answer to the previous request; nil at the start.
  func next(after answer: LoadAnswer?) throws -> Turn
}

enum Turn {
  case send(ByteBuffer)
  /// Sends the request at this time. The answer is timed from this moment, even if the connection
  /// is late: a stalled server must not look fast because it got fewer requests.
  case sendAt(NIODeadline, ByteBuffer)
  case done
}

/// A caller that sends one request and keeps the answer.
///
/// `@unchecked Sendable`: the object is used on the bench's one event loop only; the answer is read
/// after the run.
final class SingleCall: LoadCaller, @unchecked Sendable {
  private let request: ByteBuffer
  private(set) var answer: LoadAnswer?

  init(_ request: ByteBuffer) { self.request = request }

  func next(after answer: LoadAnswer?) -> Turn {
    self.answer = answer
    return answer == nil ? .send(request) : .done
  }
}
