package import Logging
package import NIOCore
import RelayCore
package import RelayEngine

/// Sends requests to one HTTP/2 provider over a few connections of its own, and finds out what
/// became of each.
///
/// Every request that is sent gets its outcome exactly once, within its timeout. What the provider
/// certainly did not process (streams above a GOAWAY's last, refused streams) is sent again inside,
/// unchanged, as long as there is time. The order of requests is not kept.
///
/// All state lives on one event loop of the group; what other threads bring crosses over in
/// batches, and what a turn of the loop makes ready leaves in one write per connection.
package final class PushEngine: Sendable {
  private let inbox: PushInbox
  private let loop: PushLoop
  private let eventLoop: any EventLoop
  private let timeout: TimeAmount

  /// Opens nothing yet. Throws if the settings cannot work, with the remedy.
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
  ///   - handover: asked whenever the request is about to be written.
  ///   - until: when there must be an outcome; after the settings' attempt timeout if nil.
  ///   - answer: called once, on the event loop or, when refused, before `send` returns. It must
  ///     not block, and may send again.
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

  package func send(_ request: Request) async -> Outcome {
    await withCheckedContinuation { continuation in
      send(request) { continuation.resume(returning: $0) }
    }
  }

  /// Lets a connection finish what it carries and puts a new one in its place.
  package func replace(_ link: LinkID) {
    eventLoop.execute { [loop] in loop.replace(link) }
  }

  /// Owns the connections until the task is cancelled: then nothing new is taken, what is under way
  /// may finish within the grace, and it returns when all is closed and answered. Call it once.
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
