package import NIOCore
package import RelayEngine
import ServiceLifecycle

/// The control listener on its Unix socket, and the metrics listener if one is configured.
package struct ControlServer: Service {
  private let control: Listener
  private let metrics: Listener?
  private let admin: AdminAPI

  package init(
    admin: AdminAPI, settings: HTTPSettings, clock: any ClockReader,
    onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in },
    onMetricsListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
  ) {
    self.admin = admin
    control = Listener(
      socket: .control(settings.controlSocket), responder: admin, clock: clock,
      limits: settings.limits, group: EventLoops.last, connections: Connections(settings.limits),
      onListening: onListening)
    metrics = settings.metrics.map { address in
      Listener(
        socket: .address(address), responder: MetricsResponder(admin: admin), clock: clock,
        limits: settings.limits, group: EventLoops.last, connections: Connections(settings.limits),
        onListening: onMetricsListening)
    }
  }

  package func run() async throws {
    try await withGracefulShutdownHandler {
      try await withThrowingDiscardingTaskGroup { group in
        group.addTask { try await control.run() }
        if let metrics { group.addTask { try await metrics.run() } }
      }
    } onGracefulShutdown: {
      // Ends the answers to operators who follow the entries, because these answers would keep the
      // listener open.
      admin.trace?.feed.end()
    }
  }
}
