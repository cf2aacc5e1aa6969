package import Logging
package import NIOCore
import NIOSSL
import RelayCore
package import RelayEngine
import Synchronization

/// Sends requests to one HTTP/2 provider over a few connections of its own, and reports the outcome
/// of each request.
///
/// Every request gets its outcome exactly once, within its timeout. If the provider certainly did
/// not process a request (its stream was refused, or is above the last one of a GOAWAY), the engine
/// sends the request again, unchanged and while there is time. The engine does not keep the order
/// of requests.
///
/// Requests of any thread wait in the inbox, and many requests wake the event loop only once.
/// Everything that arrives in one turn of the event loop, from other threads and from sockets, is
/// processed in one `turn()` after it, and each connection writes once. This batching is the main
/// reason why a push is cheap. The engine calls the state machines (`Attempts`, `Pool`) and
/// performs their actions.
///
/// `@unchecked Sendable`: `send`, `replace`, `run` and `status` may be called on any thread, and
/// touch only constants and what is behind a lock. All else is used on `eventLoop` alone.
package final class PushEngine: @unchecked Sendable {
  let settings: EngineSettings
  let shape: RequestShape
  let tls: NIOSSLContext
  let eventLoop: any EventLoop
  let logger: Logger
  let published = Mutex(EngineStatus())
  private let inbox = Mutex(DeliveryInbox())

  var attempts = Attempts<Delivery>()
  var pool: Pool
  var connections: [ProviderConnection] = []
  var counts = EngineStatus()
  /// The requests that wait, oldest first. Some of them may have ended already; the engine skips
  /// those.
  var waiting = CircularBuffer<AttemptID>()
  var answers: [(answer: @Sendable (Outcome) -> Void, outcome: Outcome)] = []
  var delivering: [(answer: @Sendable (Outcome) -> Void, outcome: Outcome)] = []
  var timer: (at: Uptime, scheduled: Scheduled<Void>)?
  /// When the grace of a stop ends; nil before the stop.
  var graceUntil: Uptime?
  var ended: (() -> Void)?
  private var arrived: [Delivery] = []
  private var admitted: UInt64 = 0
  private var isTurnScheduled = false

  private struct DeliveryInbox {
    var items: [Delivery] = []
    var isWoken = false
    var isClosed = false
  }

  /// Makes an engine that opens no connection yet. Throws an error with its remedy if the settings
  /// cannot work.
  package init(
    _ settings: EngineSettings, shape: RequestShape, group: any EventLoopGroup, logger: Logger
  ) throws(PushProblem) {
    (self.settings, self.shape, self.logger) = (settings, shape, logger)
    tls = try TransportSecurity.context(settings)
    eventLoop = group.next()
    pool = Pool(
      limits: settings.limits, probation: shape.probation, seed: UInt64.random(in: 0...(.max)))
  }

  /// - Parameters:
  ///   - handover: the engine calls `begin` on it before each write of the request.
  ///   - until: the deadline of the outcome. `nil` means the settings' attempt timeout from now.
  ///   - answer: called once, on the event loop or, if the request is refused, before `send`
  ///     returns. It must not block, and may call `send`.
  package func send(
    _ request: Request, _ handover: Handover? = nil, until deadline: Uptime? = nil,
    answer: @escaping @Sendable (Outcome) -> Void
  ) {
    let delivery = Delivery(
      request: request, handover: handover,
      deadline: deadline ?? .now + settings.limits.attemptTimeout, answer: answer)
    let (wakes, refusal) = inbox.withLock { inbox -> (Bool, TransportFailure?) in
      guard !inbox.isClosed else { return (false, .stopping) }
      guard inbox.items.count < settings.limits.waitingMax else {
        let text = "\(settings.limits.waitingMax) pushes wait already"
        return (false, TransportFailure(.full, text))
      }
      inbox.items.append(delivery)
      defer { inbox.isWoken = true }
      return (!inbox.isWoken, nil)
    }
    if wakes { eventLoop.execute { self.turn() } }
    if let refusal { answer(.failed(refusal)) }
  }

  /// Owns the connections until the task is cancelled. Then the engine accepts no request, lets
  /// open requests finish within `stopGrace`, and the call returns when all connections are closed
  /// and all requests answered. Call it once.
  package func run() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        eventLoop.execute {
          self.ended = { continuation.resume() }
          if self.graceUntil == nil { self.perform(self.pool.start(at: .now)) }
          self.turn()
        }
      }
    } onCancel: {
      inbox.withLock { $0.isClosed = true }
      eventLoop.execute { self.stop() }
    }
  }

  package var status: EngineStatus { published.withLock { $0 } }

  /// Drains a connection and opens a new one in its place.
  package func replace(_ link: LinkID) {
    eventLoop.execute {
      self.perform(self.pool.drain(link, at: .now))
      self.turn()
    }
  }

  // MARK: - On the event loop

  /// Processes all that has arrived. The call costs little if nothing has arrived.
  func turn() {
    eventLoop.assertInEventLoop()
    isTurnScheduled = false
    deliver()
    let now = Uptime.now
    inbox.withLock { inbox in
      inbox.isWoken = false
      // The emptied storage serves the next requests.
      swap(&inbox.items, &arrived)
    }
    for delivery in arrived { admit(delivery, at: now) }
    arrived.removeAll(keepingCapacity: true)
    pump(at: now)
    for connection in connections { connection.flush(at: now) }
    publish()
    arm()
    if !answers.isEmpty { scheduleTurn() }
    endIfDone()
  }

  /// Schedules `turn()` after the events of this turn of the event loop.
  func scheduleTurn() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = true
    eventLoop.execute { self.turn() }
  }

  private func admit(_ arrived: Delivery, at now: Uptime) {
    guard graceUntil == nil else {
      answers.append((arrived.answer, .failed(.stopping)))
      return
    }
    if counts.waiting >= settings.limits.waitingMax { pump(at: now) }
    guard counts.waiting < settings.limits.waitingMax else {
      let failure = TransportFailure(.full, "\(counts.waiting) pushes wait already")
      answers.append((arrived.answer, .failed(failure)))
      return
    }
    admitted += 1
    var delivery = arrived
    delivery.number = admitted
    waiting.append(attempts.admit(delivery, deadline: delivery.deadline))
    counts.waiting += 1
  }

  /// Puts waiting requests on streams while connections have room.
  private func pump(at now: Uptime) {
    while let id = waiting.first {
      guard
        let (request, handover, deadline) = attempts.with(
          id, { ($0.request, $0.handover, $0.deadline) })
      else {
        waiting.removeFirst()
        continue
      }
      guard handover?.isTakenBack != true else {
        waiting.removeFirst()
        finish(id, .failed(.takenBack))
        continue
      }
      guard now <= deadline - settings.limits.answerReserve else {
        // If the push were sent now, its outcome would probably stay unknown, and the lane's retry
        // might deliver it twice.
        waiting.removeFirst()
        counts.timeouts += 1
        finish(id, .failed(neverSent))
        continue
      }
      guard let link = pool.begin(at: now) else { return }
      guard handover?.begin() != false else {
        // The push was taken back since the check above; the next pass of this loop removes it.
        perform(pool.ended(link, answered: false, proof: false, at: now))
        continue
      }
      guard let connection = connection(link),
        let place = connection.session.submit(request, attempt: id)
      else {
        handover?.returned()
        // The session has used up its stream numbers: drain the connection and open its successor.
        perform(pool.ended(link, answered: false, proof: false, at: now))
        perform(pool.drain(link, at: now))
        continue
      }
      waiting.removeFirst()
      connection.isDirty = true
      counts.waiting -= 1
      counts.inFlight += 1
      counts.sent += 1
      attempts.with(id) { $0.place = .stream(link, place) }
    }
  }
}

/// One request on its way through the engine.
struct Delivery: Sendable {
  let request: Request
  /// Says whether the request may still be sent. `nil` means that the caller never takes the
  /// request back.
  let handover: Handover?
  let deadline: Uptime
  let answer: @Sendable (Outcome) -> Void
  /// The request's number. Each admitted request gets the next higher one.
  var number: UInt64 = 0
  var place = Place.waiting
  var resends = 0

  enum Place: Equatable {
    case waiting
    /// The request is on a stream: the connection, and the stream's index in the connection's
    /// session.
    case stream(LinkID, Int)
  }
}
