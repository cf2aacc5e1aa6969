import Hummingbird
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RelayEngine
import ServiceLifecycle

/// One HTTP/1.1 server: binds its address, accepts connections, answers requests, and ends its
/// connections when the daemon stops.
///
/// Hummingbird's own server cannot take over a socket that systemd has bound, and its connections
/// take too much memory for fifty thousand polls and streams of the courier. So the relay accepts
/// and keeps connections itself, and uses only Hummingbird's requests and responses.
struct Listener {
  enum Socket: Sendable {
    case address(ListenTarget)
    /// A Unix socket at this path, mode 0600.
    case control(String)
  }

  let socket: Socket
  var tls: ServerCertificate?
  let responder: any RequestResponder
  let clock: any ClockReader
  let limits: HTTPLimits
  /// The event loops that accept connections and serve them in turn; `nil` means that all event
  /// loops serve, and a separate event loop accepts for them.
  var group: (any EventLoopGroup)?
  let connections: Connections
  /// Called with the bound address once the kernel accepts connections for it.
  let onListening: @Sendable (SocketAddress?) -> Void

  /// Serves until the service group stops, then finishes the requests that run.
  func run() async throws {
    let (asked, asks) = AsyncStream.makeStream(of: InboundRequest.self)
    let servers = try await bind { request in
      if case .enqueued = asks.yield(request) { return }
      request.connection.channel.close(promise: nil)
    }
    defer { if case .control(let path) = socket { ControlSocket.remove(path) } }
    onListening(servers.first?.localAddress)
    await withTaskCancellationHandler {
      await withGracefulShutdownHandler {
        await withDiscardingTaskGroup { group in
          for await request in asked { group.addTask { await answer(request) } }
        }
      } onGracefulShutdown: {
        close(servers)
        connections.endAll { asks.finish() }
        serving.any().scheduleTask(in: .seconds(Int64(limits.drainSeconds))) {
          connections.closeAll()
        }
      }
    } onCancel: {
      close(servers)
      connections.closeAll()
    }
    // Wait until all sockets are closed. After that this daemon accepts no connection, and the next
    // daemon may take the address. A listener that failed to close counts as closed.
    for server in servers { _ = try? await server.closeFuture.get() }
  }

  private func close(_ servers: [any Channel]) {
    for server in servers { server.close(promise: nil) }
  }

  /// - Returns: the listening channels: one for each socket that systemd handed over, otherwise one
  ///   channel.
  private func bind(_ ask: @escaping @Sendable (InboundRequest) -> Void) async throws
    -> [any Channel]
  {
    func bootstrap(
      _ accepting: any EventLoopGroup, _ group: any EventLoopGroup
    ) -> ServerBootstrap {
      ServerBootstrap(group: accepting, childGroup: group)
        // The kernel queues this many connections, as many as one public address may have by
        // default. A client that finds the queue full tries again a second later.
        .serverChannelOption(.backlog, value: 4_096)
        .serverChannelOption(.maxMessagesPerRead, value: 64)
        .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
        .serverChannelInitializer { server in
          server.eventLoop.makeCompletedFuture {
            try server.pipeline.syncOperations.addHandler(AcceptGate())
          }
        }
        .childChannelOption(.allowRemoteHalfClosure, value: true)
        // After one read of a connection, the event loop reads another connection. One read is
        // bounded, because a read of 64 KiB may hold a thousand requests, which are all parsed.
        .childChannelOption(.maxMessagesPerRead, value: 1)
        .childChannelOption(
          .recvAllocator,
          value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2_048, maximum: 16_384)
        )
        // Without this option the kernel would keep megabytes for each client that reads nothing,
        // and no limit would count these bytes.
        .childChannelOption(.socketOption(.so_sndbuf), value: limits.sendBufferBytes)
        .childChannelInitializer { channel in
          channel.eventLoop.makeCompletedFuture { try setUp(channel, tls?.context, ask) }
        }
    }
    let accepting = group ?? EventLoops.accepting
    var servers: [any Channel] = []
    do {
      switch socket {
      case .address(.tcp(let host, let port)):
        servers.append(try await bootstrap(accepting, serving).bind(host: host, port: port).get())
      case .address(.inherited(let fds)):
        for (index, fd) in fds.enumerated() {
          let own = EventLoops.group(for: fd, at: index, of: fds.count)
          let bootstrap = bootstrap(own ?? accepting, own ?? serving)
          servers.append(try await bootstrap.withBoundSocket(fd).get())
        }
      case .control(let path):
        let bootstrap = bootstrap(accepting, serving)
        servers.append(try await bootstrap.withBoundSocket(ControlSocket.bind(path)).get())
      }
      return servers
    } catch {
      close(servers)
      if let error = error as? ListenError { throw error }
      throw ListenError(
        description: "cannot listen on \(place): \(error); is another daemon running there?")
    }
  }

  /// Sets up an accepted channel for HTTP/1.1.
  func setUp(
    _ channel: any Channel, _ tls: NIOSSLContext?,
    _ ask: @escaping @Sendable (InboundRequest) -> Void
  ) throws {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
    // `HTTPConnection` itself answers one request at a time, and itself handles errors and checks
    // header fields, so no other handler of NIO is needed.
    try pipeline.addHandlers(HTTPResponseEncoder(), ByteToMessageHandler(RequestDecoder()))
    try pipeline.addHandler(
      HTTPConnection(
        channel: channel, idle: .seconds(Int64(limits.connectionIdleSeconds)), ask: ask))
    guard connections.add(channel) else { throw ListenError(description: "too many connections") }
    channel.closeFuture.whenComplete { _ in connections.remove(channel) }
  }

  private var serving: any EventLoopGroup { group ?? MultiThreadedEventLoopGroup.singleton }

  private var place: String {
    switch socket {
    case .address(let address): address.description
    case .control(let path): path
    }
  }

  /// Passes a request to the responder and writes the answer. The method is concurrent, so that it
  /// does not run on the executor of its caller.
  @concurrent
  func answer(_ asked: InboundRequest) async {
    do {
      var response: Response
      switch asked.content {
      case .failure(let refusal): response = refusal.response
      case .success(let request):
        let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        if request.headers[.expect]?.lowercased() == "100-continue", declared <= limits.bodyBytes {
          let proceed = HTTPConnection.ResponsePart(
            head: HTTPResponse(status: .continue), isLast: false)
          try await asked.connection.send(proceed, for: asked.serial)
        }
        response = try await responder.respond(to: request, on: asked.connection.channel)
      }
      response.headers[.date] = Timestamp.httpDate(clock.wall())
      let writer = AnswerWriter(
        asked, head: response.head, isWhole: response.body.contentLength != nil)
      try await response.body.write(writer)
    } catch {
      // The connection broke, so no client can receive an error.
      asked.connection.channel.close(promise: nil)
    }
  }
}
