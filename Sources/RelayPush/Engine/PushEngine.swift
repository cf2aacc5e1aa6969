package import Logging
package import NIOCore
import RelayCore
package import RelayEngine

/// Sends requests to one HTTP/2 provider over a few connections of its own, and reports the outcome
/// of each request.
///
/// Every request gets its outcome exactly once, within its timeout. The engine sends again,
/// unchanged and while there is time, what the provider certainly did not process (streams above
/// the last one of a GOAWAY, refused streams). The engine does not keep the order of requests.
///
/// Only one event loop of the group uses the engine's state. Requests of other threads arrive in
/// batches, and each connection writes once for each turn of the loop.
package final class PushEngine: Sendable {
  private let inbox: PushInbox
  private let loop: PushLoop
  private let eventLoop: any EventLoop
  private let timeout: TimeAmount

  /// Makes an engine that opens no connection yet. Throws an error with its remedy if the settings
  /// cannot work.
  package init(
    _ settings: EngineSettings, shape: RequestShape, group: any EventLoopGroup, logger: Logger
  ) throws(PushProblem) {
    try settings.check()
    eventLoop = group.next()
    inbox = PushInbox(itemsMax: settings.limits.waitingMax)
    timeout = .milliseconds(settings.limits.attemptTimeout.milliseconds)
    loop = PushLoop(
      settings: settings, shape: shape, tls: try TransportSecurity.context(settings),
      inbox: inbox, eventLoop: eventLoop, logger: logger)
  }

  /// - Parameters:
  ///   - handover: the engine calls `begin` on it before each write of the request.
  ///   - until: the deadline of the outcome. `nil` means the settings' attempt timeout from now.
  ///   - answer: called once, on the event loop or, if the request is refused, before `send`
  ///     returns. It must not block, and may call `send`.
  package func send(
    _ request: Request, _ handover: Handover? = nil, until deadline: NIODeadline? = nil,
    answer: @escaping @Sendable (Outcome) -> Void
  ) {
    let item = PushInbox.Item(
      request: request, handover: handover, deadline: deadline ?? .now() + timeout, answer: answer)
    switch inbox.put(item) {
    case .wake: eventLoop.execute { [loop] in loop.turn() }
    case .none: break
    case .refuse(let failure): answer(.failed(failure))
    }
  }

  /// Drains a connection and opens a new one in its place.
  package func replace(_ link: LinkID) {
    eventLoop.execute { [loop] in loop.replace(link) }
  }

  /// Owns the connections until the task is cancelled. Then the engine accepts no request, lets
  /// open requests finish within `stopGrace`, and the call returns when all connections are closed
  /// and all requests answered. Call it once.
  package func run() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        eventLoop.execute { [loop] in loop.start { continuation.resume() } }
      }
    } onCancel: {
      inbox.close()
      eventLoop.execute { [loop] in loop.stop() }
    }
  }

  package var status: EngineStatus { loop.status }
}

extension EngineSettings {
  func check() throws(PushProblem) {
    guard !host.isEmpty, (1...65_535).contains(port) else {
      throw PushProblem(
        .endpoint, "\(host):\(port) is no endpoint of a push provider",
        remedy: "give a host name and a port between 1 and 65535")
    }
    guard limits.connections > 0, limits.streamsMax > 0, limits.waitingMax > 0,
      limits.attemptTimeout > .zero, limits.connectTimeout > .zero
    else {
      throw PushProblem(
        .limit, "connections, streams, waiting pushes and timeouts of \(host) must be above zero",
        remedy: "leave the limit out to get its default")
    }
  }
}
