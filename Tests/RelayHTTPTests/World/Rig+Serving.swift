import Logging
import NIOCore
import RelayHTTP
import ServiceLifecycle

extension Rig {
  /// Serves the API on loopback while a client runs.
  ///
  /// - Parameter speak: the client, which runs on its own thread and may block. The client gets the
  ///   port and a function that stops the daemon. After the client, a running daemon is stopped.
  func served<Result: Sendable>(
    tls: TLSFiles? = nil,
    _ speak:
      @escaping @Sendable (_ port: Int, _ stop: @escaping @Sendable () -> Void) throws ->
      Result
  ) async throws -> Result {
    let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    let (listening, bound) = AsyncStream.makeStream(of: Int.self)
    let (stopping, stops) = AsyncStream.makeStream(of: Void.self)
    var settings = settings
    settings.tls = tls
    let server = try APIServer(
      api: api, settings: settings, clock: TestClock()
    ) { bound.yield($0?.port ?? 0) }
    let group = ServiceGroup(services: [server], logger: logger)
    return try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        defer { bound.finish() }
        try await group.run()
      }
      tasks.addTask {
        for await _ in stopping { await group.triggerGracefulShutdown() }
      }
      var ports = listening.makeAsyncIterator()
      guard let port = await ports.next() else {
        stops.finish()
        try await tasks.waitForAll()
        throw NotServed()
      }
      defer { stops.finish() }
      let result = try await stranger { try speak(port) { stops.yield() } }
      stops.yield()
      stops.finish()
      try await tasks.waitForAll()
      return result
    }
  }

  private struct NotServed: Error {}
}
