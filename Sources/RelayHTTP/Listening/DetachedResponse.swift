import NIOCore

/// The answer to a held request: the courier writes the answer later, when it has something to
/// send. The connection stays open, and no task waits for the answer. The parts of the answer are
/// written in the order of the calls.
struct DetachedResponse: Sendable {
  private let connection: HTTPConnection
  private let serial: UInt32

  /// Takes over the current request of a channel. While the request is held, parts of an answer
  /// that the responder writes for it are dropped.
  ///
  /// - Parameter hold: called on the channel's event loop. Returns the function to call once if the
  ///   client disconnects before the answer is complete, or nil in order not to hold the request.
  /// - Returns: true if the request is held, false if `hold` returned nil; nil if the client sends
  ///   no more, or the request was answered already.
  /// - Throws: if the connection has closed already, or the request's body is invalid or late.
  static func take(
    on channel: any Channel,
    _ hold: @escaping @Sendable (DetachedResponse) -> (@Sendable () -> Void)?
  ) async throws -> Bool? {
    try await channel.eventLoop.submit {
      let connection = try channel.pipeline.syncOperations.handler(type: HTTPConnection.self)
      return try connection.hold { hold(DetachedResponse(connection: connection, serial: $0)) }
    }.get()
  }

  /// Writes a part of the answer.
  ///
  /// - Parameter done: called with true once the part has left for the network, or with false if
  ///   the part can no longer leave.
  func write(
    _ part: HTTPConnection.ResponsePart, _ done: (@Sendable (_ isWritten: Bool) -> Void)? = nil
  ) {
    connection.channel.eventLoop.execute { self.writeNow(part, done) }
  }

  /// Writes a part at once, before any other part can be written. Call this method on the
  /// connection's event loop.
  func writeNow(
    _ part: HTTPConnection.ResponsePart, _ done: (@Sendable (_ isWritten: Bool) -> Void)? = nil
  ) {
    let promise = connection.channel.eventLoop.makePromise(of: Void.self)
    if let done {
      promise.futureResult.whenComplete { result in
        if case .success = result { done(true) } else { done(false) }
      }
    }
    connection.write(part, for: serial, isHolder: true, promise)
  }

  /// Closes the connection, because the client does not read the answer.
  func cut() { connection.channel.close(promise: nil) }

  /// Makes the kernel's send buffer small, so that the kernel keeps few bytes for a client that
  /// does not read.
  func narrow() {
    connection.channel.setOption(.socketOption(.so_sndbuf), value: 16_384).whenComplete { _ in }
  }
}
