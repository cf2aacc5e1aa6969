package import Logging
package import NIOCore
package import RelayEngine
import ServiceLifecycle

/// The API listener for devices, producers, couriers and health checks.
package struct APIServer: Service {
  private let listener: Listener
  private let api: API
  /// The TLS certificate; `nil` means that the listener serves plain HTTP.
  package let certificate: ServerCertificate?

  /// - Throws: `ListenError` naming the TLS file that cannot be used.
  package init(
    api: API, settings: HTTPSettings, clock: any ClockReader,
    connections: Connections? = nil, logger: Logger,
    onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
  ) throws {
    self.api = api
    certificate = try settings.tls.map { ServerCertificate(try ServerCertificate.Pair($0)) }
    listener = Listener(
      socket: .address(settings.listen), tls: certificate, responder: api, clock: clock,
      limits: settings.limits, connections: connections ?? Connections(settings.limits),
      logger: logger, onListening: onListening)
  }

  package func run() async throws {
    let api = api
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await api.courier.run() }
      group.addTask { await api.looks.run(api.clock) }
      group.addTask {
        // If this task is cancelled, the listener and its connections have ended.
        guard (try? await gracefulShutdown()) != nil else { return }
        await api.courier.drain(within: api.limits.drainSeconds)
      }
      try await listener.run()
      group.cancelAll()
    }
  }
}

/// The control listener on its Unix socket, and the metrics listener if one is configured.
package struct ControlServer: Service {
  private let control: Listener
  private let metrics: Listener?
  private let admin: AdminAPI

  package init(
    admin: AdminAPI, settings: HTTPSettings, clock: any ClockReader, logger: Logger,
    onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in },
    onMetricsListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
  ) {
    self.admin = admin
    control = Listener(
      socket: .control(settings.controlSocket), responder: admin, clock: clock,
      limits: settings.limits, group: EventLoops.last, connections: Connections(settings.limits),
      logger: logger, onListening: onListening)
    metrics = settings.metrics.map { address in
      Listener(
        socket: .address(address), responder: MetricsResponder(admin: admin), clock: clock,
        limits: settings.limits, group: EventLoops.last, connections: Connections(settings.limits),
        logger: logger, onListening: onMetricsListening)
    }
  }

  package func run() async throws {
    try await withGracefulShutdownHandler {
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask { try await control.run() }
        if let metrics { group.addTask { try await metrics.run() } }
      }
    } onGracefulShutdown: {
      // Operators who follow the entries would keep the listener open.
      admin.trace?.feed.end()
    }
  }
}
