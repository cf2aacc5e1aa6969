import Glibc
import NIOCore
import NIOPosix
import Synchronization

/// The listener of a stand-in, its open connections, and the first failure, which stops the
/// stand-in.
final class OpenChannels: Sendable {
  private let state = Mutex(State())

  private struct State {
    var listener: (any Channel)?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var failure: (any Error)?
  }

  /// Listens, and serves every connection on one event loop.
  ///
  /// - Parameter accept: sets up a connection.
  /// - Returns: the port.
  func listen(
    host: String, port: Int, on loop: any EventLoop,
    accept: @escaping @Sendable (any Channel) -> EventLoopFuture<Void>
  ) async throws(StandinError) -> Int {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer(accept)
    do {
      let listener = try await bootstrap.bind(host: host, port: port).get()
      state.withLock { $0.listener = listener }
      return listener.localAddress?.port ?? port
    } catch {
      let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
      throw StandinError(
        code: .listen, message: "cannot listen on \(host):\(port): \(reason ?? "\(error)")",
        remedy: "choose a free port, or stop the program that uses it")
    }
  }

  /// Serves until the task is cancelled, then closes `control` and every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  func serve(with control: FaultControl?) async throws(StandinError) {
    let listener = state.withLock { $0.listener }
    await withTaskCancellationHandler {
      // An error of the listener is ignored: the listener is closed either way.
      _ = try? await listener?.closeFuture.get()
    } onCancel: {
      listener?.close(promise: nil)
    }
    await control?.close()
    let (open, failure) = state.withLock { (Array($0.channels.values), $0.failure) }
    for closing in open.map({ $0.close(mode: .all) }) {
      // An error here means that the client has already closed the connection.
      _ = try? await closing.get()
    }
    if let failure {
      throw StandinError(
        code: .files, message: "a request could not be put on record: \(failure)",
        remedy: "make room for the log of requests, and start again")
    }
  }

  /// Keeps a connection until it closes.
  func insert(_ channel: any Channel) {
    let id = ObjectIdentifier(channel)
    state.withLock { $0.channels[id] = channel }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.channels[id] = nil }
    }
  }

  /// Stops the listener because of `error`; only the first error is kept.
  func fail(_ error: any Error) {
    let listener = state.withLock {
      if $0.failure == nil { $0.failure = error }
      return $0.listener
    }
    listener?.close(promise: nil)
  }
}
