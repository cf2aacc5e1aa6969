package import NIOCore
package import RelayEngine
import ServiceLifecycle

/// The API listener for devices, producers, health checks, and the polls and streams of the
/// courier.
package struct APIServer: Service {
  private let listener: Listener
  private let courier: Courier
  private let looks: CallerTurns
  private let clock: any ClockReader
  private let drainSeconds: Int
  /// The TLS certificate; `nil` means that the listener serves plain HTTP.
  package let certificate: ServerCertificate?

  /// - Throws: `ListenError` naming both TLS files, if the relay cannot use them.
  package init(
    api: API, settings: HTTPSettings, clock: any ClockReader,
    connections: Connections? = nil,
    onListening: @escaping @Sendable (SocketAddress?) -> Void = { _ in }
  ) throws {
    courier = api.couriers.courier
    looks = api.store.looks
    self.clock = clock
    drainSeconds = settings.limits.drainSeconds
    certificate = try settings.tls.map { ServerCertificate(try ServerCertificate.Pair($0)) }
    listener = Listener(
      socket: .address(settings.listen), tls: certificate, responder: api, clock: clock,
      limits: settings.limits, connections: connections ?? Connections(settings.limits),
      onListening: onListening)
  }

  package func run() async throws {
    let (courier, looks, clock, drainSeconds) = (courier, looks, clock, drainSeconds)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await courier.run() }
      group.addTask { await looks.run(clock) }
      group.addTask {
        // If this task is cancelled, the listener and its connections have ended.
        guard (try? await gracefulShutdown()) != nil else { return }
        await courier.drain(within: drainSeconds)
      }
      try await listener.run()
      group.cancelAll()
    }
  }
}
