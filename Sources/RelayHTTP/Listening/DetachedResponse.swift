import NIOCore

/// A request that is answered later, when there is something to send. The request keeps its
/// connection, and no task waits for the answer. The parts of its answer are written in the order
/// of the calls.
struct DetachedResponse: Sendable {
  private let connection: HTTPConnection
  private let serial: UInt32

  /// Takes over the current request of a channel. Anything else written for it is dropped.
  ///
  /// - Parameter hold: called on the channel's event loop. Returns what is called once if the
  ///   client ends before the answer does; nil if it does not hold the request.
  /// - Returns: true if the request is held; nil if the client has ended the connection.
  /// - Throws: if the connection has closed already.
  static func take(
    on channel: any Channel,
    _ hold: @escaping @Sendable (DetachedResponse) -> (@Sendable () -> Void)?
  ) async throws -> Bool? {
    try await channel.eventLoop.submit {
      let connection = try channel.pipeline.syncOperations.handler(type: HTTPConnection.self)
      return connection.hold { hold(DetachedResponse(connection: connection, serial: $0)) }
    }.get()
  }

  /// - Parameter done: called with false if the part can no longer leave for the network.
  func write(
    _ part: HTTPConnection.ResponsePart, _ done: (@Sendable (_ isWritten: Bool) -> Void)? = nil
  ) {
    connection.channel.eventLoop.execute { self.writeNow(part, done) }
  }

  /// Writes a part at once, before any other one can be written. Call it on the event loop.
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

  /// Closes the connection, because its reader does not read.
  func cut() { connection.channel.close(promise: nil) }

  /// Lowers the kernel's send buffer, so that it keeps little for a reader that does not read.
  func narrow() {
    connection.channel.setOption(.socketOption(.so_sndbuf), value: 16_384).whenComplete { _ in }
  }
}
