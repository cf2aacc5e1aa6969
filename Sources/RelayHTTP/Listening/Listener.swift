package import Hummingbird
import HTTPTypes
import HummingbirdCore
package import Logging
import NIOCore
import NIOPosix
package import NIOSSL
import HummingbirdTLS
package import RelayEngine
import ServiceLifecycle

/// One HTTP/1.1 server: binds, accepts, answers, and drains when it is told to stop.
///
/// Hummingbird's own server cannot take over a socket that systemd has bound, so the accepting is
/// ours; connections and requests are Hummingbird's.
package struct Listener<Responder: HTTPResponder>: Service
where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
  package enum Socket: Sendable {
    case address(ListenAddress)
    /// A Unix socket at this path, mode 0600.
    case control(String)
  }

  private let socket: Socket
  private let tls: TLSConfiguration?
  private let responder: Responder
  private let clock: any ClockReader
  private let limits: HTTPLimits
  private let logger: Logger
  private let connections: Connections
  private let onListening: @Sendable (SocketAddress?) -> Void

  /// - Parameters:
  ///   - connections: those open now, for whoever gauges them.
  ///   - onListening: called once the kernel queues connections, with the bound address.
  package init(
    on socket: Socket, tls: TLSConfiguration? = nil, responder: Responder,
    clock: any ClockReader, limits: HTTPLimits, connections: Connections? = nil,
    logger: Logger, onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
  ) {
    self.socket = socket
    self.tls = tls
    self.responder = responder
    self.clock = clock
    self.limits = limits
    self.logger = logger
    self.onListening = onListening
    self.connections = connections ?? Connections(countMax: limits.connections)
  }

  /// Serves until the service group stops, then finishes the requests that run.
  package func run() async throws {
    let http = HTTP1Channel(
      responder: { request, writer, channel in
        try await answer(request, writer, channel)
      },
      configuration: HTTP1Channel.Configuration(
        idleTimeout: .seconds(Int64(limits.connectionIdleSeconds))))
    if let tls {
      try await serve(TLSChannel(http, tlsConfiguration: tls))
    } else {
      try await serve(http)
    }
  }

  private func serve<Setup: ServerChildChannel>(_ setup: Setup) async throws {
    let server = try await bind(setup)
    defer { if case .control(let path) = socket { ControlSocket.remove(path) } }
    onListening(server.channel.localAddress)
    await withGracefulShutdownHandler {
      await withDiscardingTaskGroup { group in
        do {
          try await server.executeThenClose { inbound in
            for try await value in inbound {
              group.addTask { await setup.handle(value: value, logger: logger) }
            }
          }
        } catch {
          logger.error("listener failed", metadata: ["error": "\(error)"])
        }
      }
    } onGracefulShutdown: {
      server.channel.close(promise: nil)
      connections.endAll()
      server.channel.eventLoop.scheduleTask(in: .seconds(Int64(limits.drainSeconds))) {
        connections.closeAll()
      }
    }
  }

  private func bind<Setup: ServerChildChannel>(
    _ setup: Setup
  ) async throws -> NIOAsyncChannel<Setup.Value, Never> {
    let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .serverChannelOption(.backlog, value: 1_024)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
    let accept: @Sendable (any Channel) -> EventLoopFuture<Setup.Value> = { channel in
      guard connections.add(channel) else {
        return channel.eventLoop.makeFailedFuture(ListenError("too many connections"))
      }
      channel.closeFuture.whenComplete { _ in connections.remove(channel) }
      return setup.setup(channel: channel, logger: logger)
    }
    do {
      switch socket {
      case .address(.tcp(let host, let port)):
        return try await bootstrap.bind(host: host, port: port, childChannelInitializer: accept)
      case .address(.inherited(let fd)):
        return try await bootstrap.bind(fd, childChannelInitializer: accept)
      case .control(let path):
        return try await bootstrap.bind(
          ControlSocket.bind(path), childChannelInitializer: accept)
      }
    } catch let error as ListenError {
      throw error
    } catch {
      throw ListenError("cannot listen on \(place): \(error); is another daemon running there?")
    }
  }

  private var place: String {
    switch socket {
    case .address(let address): address.description
    case .control(let path): path
    }
  }

  /// Concurrent, as Hummingbird's writer is: it is not bound to whoever calls.
  @concurrent
  private func answer(
    _ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel
  ) async throws {
    let declared = request.headers[.contentLength].flatMap { Int($0) } ?? 0
    if request.headers[.expect]?.lowercased() == "100-continue", declared <= limits.bodyBytes {
      try await writer.writeInformationalHead(HTTPResponse(status: .continue))
    }
    let context = Responder.Context(
      source: ApplicationRequestContextSource(channel: channel, logger: logger))
    var response = try await responder.respond(to: request, context: context)
    response.headers[.date] = Timestamp.httpDate(clock.wall())
    try await writer.write(response: response.head, body: response.body)
  }
}
