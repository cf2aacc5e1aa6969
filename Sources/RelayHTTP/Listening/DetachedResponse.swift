import NIOCore

/// A request that is answered when there is something to say: it keeps its connection, and no task
/// waits for it. Its pieces are written in the order in which they are given.
struct DetachedResponse: Sendable {
  private let connection: HTTPConnection
  private let serial: UInt32

  /// Takes over the request that is under way on a channel. What else is written for it is dropped.
  ///
  /// - Parameter hold: called on the channel's event loop. It returns what is called, once, if the
  ///   other side ends before the last of the answer; nil if it does not hold the request.
  /// - Returns: whether it is held; nil if the other side has ended already.
  static func take(
    on channel: any Channel,
    _ hold: @escaping @Sendable (DetachedResponse) -> (@Sendable () -> Void)?
  ) async throws -> Bool? {
    try await channel.eventLoop.submit {
      let connection = try channel.pipeline.syncOperations.handler(type: HTTPConnection.self)
      guard let serial = connection.underWay?.serial, !connection.isInputClosed else { return nil }
      connection.underWay?.isHeld = true
      let onGone = hold(DetachedResponse(connection: connection, serial: serial))
      connection.underWay?.isHeld = onGone != nil
      connection.underWay?.onGone = onGone
      return onGone != nil
    }.get()
  }

  /// - Parameter done: called with false if it cannot leave any more.
  func write(
    _ piece: HTTPConnection.ResponsePart, _ done: (@Sendable (_ isWritten: Bool) -> Void)? = nil
  ) {
    connection.channel.eventLoop.execute { self.writeNow(piece, done) }
  }

  /// On the event loop, before anything else can be.
  func writeNow(
    _ piece: HTTPConnection.ResponsePart, _ done: (@Sendable (_ isWritten: Bool) -> Void)? = nil
  ) {
    let promise = connection.channel.eventLoop.makePromise(of: Void.self)
    if let done {
      promise.futureResult.whenComplete { result in
        if case .success = result { done(true) } else { done(false) }
      }
    }
    connection.write(piece, for: serial, isHolder: true, promise)
  }

  /// Its reader does not read.
  func cut() { connection.channel.close(promise: nil) }

  /// Little is kept for a reader that does not read.
  func narrow() {
    connection.channel.setOption(.socketOption(.so_sndbuf), value: 16_384).whenComplete { _ in }
  }
}
