import Foundation
import Glibc
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server over TLS on loopback, which hands each request to a provider: the listener, its open
/// connections, the log of requests, and the first failure, which stops the stand-in.
final class FakeServer: Sendable {
  let board: FaultBoard
  private let provider: any FakeProvider
  private let log: PushLog
  /// All connections share one event loop, so requests are judged and logged in one order.
  private let loop: any EventLoop
  private let state = Mutex(State())

  private struct State {
    var listener: (any Channel)?
    var control: FaultControl?
    var channels: [ObjectIdentifier: any Channel] = [:]
    var failure: (any Error)?
  }

  init(_ provider: any FakeProvider, _ files: StandinFiles) throws(StandinError) {
    self.provider = provider
    log = try PushLog(path: files.pushes)
    loop = MultiThreadedEventLoopGroup.singleton.next()
    board = FaultBoard(loop: loop)
  }

  /// Listens, and serves every connection.
  ///
  /// - Parameters:
  ///   - control: the path of a Unix socket where faults are changed; nil means no socket.
  ///   - lacks: faults that this stand-in does not support.
  ///   - serve: adds the handlers of a connection after the connection's `Gate`, the handler that
  ///     acts like a broken network.
  /// - Returns: the port.
  func listen(
    host: String, port: Int, control: String?, lacks: Set<String> = [],
    serve: @escaping @Sendable (any Channel, Gate) -> EventLoopFuture<Void>
  ) async throws(StandinError) -> Int {
    let bootstrap = ServerBootstrap(group: loop)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        self.insert(channel)
        let gate = NIOLoopBound(Gate(self.board.faults), eventLoop: channel.eventLoop)
        self.board.tell(channel) { gate.value.heard($0) }
        return channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(gate.value)
        }.flatMap { serve(channel, gate.value) }
      }
    let bound: Int
    do {
      let listener = try await bootstrap.bind(host: host, port: port).get()
      state.withLock { $0.listener = listener }
      bound = listener.localAddress?.port ?? port
    } catch {
      let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) }
      throw StandinError(
        code: .listen, message: "cannot listen on \(host):\(port): \(reason ?? "\(error)")",
        remedy: "choose a free port, or stop the program that uses it")
    }
    if let control {
      let opened = try await FaultControl(path: control, board: board, loop: loop, lacks: lacks)
      state.withLock { $0.control = opened }
    }
    return bound
  }

  /// Lets the provider judge a complete request, and logs it before the sender gets an answer.
  func answer(_ request: PushRequest) -> FakeAnswer {
    let now = Int64(Date().timeIntervalSince1970 * 1_000)
    let answer = provider.answer(request, number: board.count(), under: board.faults, at: now)
    do {
      try log.append(line(request, answer, at: now))
      return answer
    } catch {
      fail(error)
      return .silence
    }
  }

  private func line(
    _ request: PushRequest, _ answer: FakeAnswer, at milliseconds: Int64
  ) throws -> String {
    var members = provider.record(of: request)
    members["time"] = PushLog.time(milliseconds)
    members["path"] = request.path
    members["headers"] = Dictionary(request.headers) { "\($0), \($1)" }
    members["status"] = answer.status
    members["reason"] = answer.reason
    let texts = try (provider.logOrder ?? members.keys.sorted()).compactMap { name in
      try members[name].map { "\"\(name)\":\(try PushLog.json($0))" }
    }
    return "{\(texts.joined(separator: ","))}\n"
  }

  /// Serves until the task is cancelled, then closes the control's socket and every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  func run() async throws(StandinError) {
    let (listener, control) = state.withLock { ($0.listener, $0.control) }
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
  private func insert(_ channel: any Channel) {
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

extension FakeServer {
  /// Listens, and serves HTTP/2 and HTTP/1.1.
  func listen(
    host: String, port: Int, control: String?, _ files: StandinFiles
  ) async throws(StandinError) -> Int {
    let tls = try files.tls(protocols: ["h2", "http/1.1"])
    return try await listen(
      host: host, port: port, control: control, lacks: ["goaway", "streams"]
    ) { channel, gate in
      let gate = NIOLoopBound(gate, eventLoop: channel.eventLoop)
      return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
      }.flatMap {
        // With both protocols the stream's handler receives HTTP/1.1 messages.
        channel.configureCommonHTTPServerPipeline { stream in
          stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandler(
              FakeHTTPStream(gate: gate.value) { self.answer($0) })
          }
        }
      }
    }
  }
}
