import Logging
import NIOCore
import NIOSSL
import RelayCore
import RelayEngine
import Synchronization

/// The loop of a push engine: calls the state machines (`Attempts`, `Pool`) and performs their
/// actions.
///
/// Everything that arrives in one turn of the event loop, from other threads and from sockets, is
/// processed in one `turn()` after it, and each connection writes once. This batching is the main
/// reason why a push is cheap.
///
/// `@unchecked Sendable`: every method runs on `eventLoop`; `status` is behind a lock.
final class PushLoop: @unchecked Sendable {
  let settings: EngineSettings
  let shape: RequestShape
  let tls: NIOSSLContext
  let eventLoop: any EventLoop
  let logger: Logger
  var attempts = Attempts<Delivery>()
  var pool: Pool
  var connections: [ProviderConnection] = []
  var counts = EngineStatus()
  private let inbox: PushInbox
  private var arrived: [PushInbox.Item] = []
  private var admitted: UInt64 = 0
  /// The requests that wait, oldest first. Some of them may have ended already; the loop skips
  /// those.
  private var waiting = CircularBuffer<AttemptID>()
  private var answers: [(answer: @Sendable (Outcome) -> Void, outcome: Outcome)] = []
  private var delivering: [(answer: @Sendable (Outcome) -> Void, outcome: Outcome)] = []
  private var isTurnScheduled = false
  private var timer: (at: Uptime, scheduled: Scheduled<Void>)?
  private var stopping: Stopping?
  private var ended: (() -> Void)?
  private let published = Mutex(EngineStatus())

  private struct Stopping { var graceUntil: Uptime }

  init(
    settings: EngineSettings, shape: RequestShape, tls: NIOSSLContext, inbox: PushInbox,
    eventLoop: any EventLoop, logger: Logger
  ) {
    self.settings = settings
    self.shape = shape
    self.tls = tls
    self.inbox = inbox
    self.eventLoop = eventLoop
    self.logger = logger
    pool = Pool(
      limits: settings.limits, probation: shape.probation, seed: UInt64.random(in: 0...(.max)))
  }

  var status: EngineStatus { published.withLock { $0 } }
  var now: Uptime { Uptime(.now()) }

  func connection(_ id: LinkID) -> ProviderConnection? { connections.first { $0.id == id } }

  func start(ended: @escaping @Sendable () -> Void) {
    self.ended = ended
    if stopping == nil { perform(pool.start(at: now)) }
    turn()
  }

  func stop() {
    guard stopping == nil else { return }
    let now = now
    stopping = Stopping(graceUntil: now + settings.limits.stopGrace)
    while let id = waiting.popFirst() {
      finish(id, .failed(TransportFailure(.stopped, "the push engine is stopping")))
    }
    perform(pool.stop(at: now))
    turn()
  }

  func replace(_ link: LinkID) {
    perform(pool.drain(link, at: now))
    turn()
  }

  /// Processes all that has arrived. The call costs little if nothing has arrived.
  func turn() {
    isTurnScheduled = false
    deliver()
    let now = now
    inbox.take(into: &arrived)
    for item in arrived { admit(item, at: now) }
    arrived.removeAll(keepingCapacity: true)
    pump(at: now)
    for connection in connections {
      connection.flush()
      consume(connection, at: now)
    }
    publish()
    arm()
    if !answers.isEmpty { scheduleTurn() }
    endIfDone()
  }

  /// Delivers outcomes at the beginning of a turn. A request that a receiver then sends belongs to
  /// this turn, and the `status` that a receiver then reads includes these outcomes.
  private func deliver() {
    guard !answers.isEmpty else { return }
    publish()
    swap(&answers, &delivering)
    for (answer, outcome) in delivering { answer(outcome) }
    delivering.removeAll(keepingCapacity: true)
  }

  /// Schedules `turn()` after the events of this turn of the event loop.
  func scheduleTurn() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = true
    eventLoop.execute { self.turn() }
  }

  // MARK: - Requests

  private func admit(_ item: PushInbox.Item, at now: Uptime) {
    if stopping != nil {
      let failure = TransportFailure(.stopped, "the push engine is stopping")
      answers.append((item.answer, .failed(failure)))
      return
    }
    if counts.waiting >= settings.limits.waitingMax { pump(at: now) }
    guard counts.waiting < settings.limits.waitingMax else {
      counts.full += 1
      let failure = TransportFailure(.full, "\(counts.waiting) pushes wait already")
      answers.append((item.answer, .failed(failure)))
      return
    }
    admitted += 1
    let deadline = Uptime(item.deadline)
    let delivery = Delivery(
      number: admitted, request: item.request, handover: item.handover, answer: item.answer,
      sendBy: deadline - settings.limits.answerReserve)
    waiting.append(attempts.admit(delivery, deadline: deadline))
    counts.waiting += 1
  }

  /// Puts waiting requests on streams while connections have room.
  private func pump(at now: Uptime) {
    while let id = waiting.first {
      guard
        let (request, handover, sendBy) = attempts.with(
          id, { ($0.request, $0.handover, $0.sendBy) })
      else {
        waiting.removeFirst()
        continue
      }
      guard handover?.isTakenBack != true else {
        waiting.removeFirst()
        finish(id, .failed(Self.takenBack))
        continue
      }
      guard now <= sendBy else {
        // If the push were sent now, its outcome would probably stay unknown, and the lane's retry
        // might deliver it twice.
        waiting.removeFirst()
        counts.timeouts += 1
        finish(id, .failed(neverSent))
        continue
      }
      guard let link = pool.begin(at: now) else { return }
      guard handover?.begin() != false else {
        // The push was taken back since the check above; the next round removes it.
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

  private static let takenBack = TransportFailure(
    .takenBack, "recalled: what it names was withdrawn")

  /// The connection has written these requests completely to its socket.
  func written(_ ids: [AttemptID]) {
    for id in ids { attempts.with(id) { $0.handover?.written() } }
  }

  /// Answers the request, unless it has been answered already.
  func finish(_ id: AttemptID, _ outcome: Outcome) {
    guard let delivery = attempts.finish(id) else { return }
    if delivery.place == .waiting { counts.waiting -= 1 } else { counts.inFlight -= 1 }
    answers.append((delivery.answer, outcome))
  }

  /// Puts requests back at the head of the queue, oldest first, because they have waited longest.
  /// The bytes and the id stay the same.
  func resend(_ ids: [AttemptID]) {
    let known = ids.compactMap { id in attempts.with(id) { ($0.number, id) } }
    for (_, id) in known.sorted(by: { $0.0 > $1.0 }) { resend(id) }
  }

  private func resend(_ id: AttemptID) {
    let resends = attempts.with(id) { delivery in
      delivery.place = .waiting
      delivery.resends += 1
      delivery.handover?.returned()
      return delivery.resends
    }
    guard let resends else { return }
    counts.inFlight -= 1
    counts.waiting += 1
    if stopping != nil {
      finish(id, .failed(TransportFailure(.stopped, "the push engine is stopping")))
    } else if resends > settings.limits.resendsMax {
      finish(id, .failed(TransportFailure(.reset, "refused \(resends) times")))
    } else {
      counts.resent += 1
      waiting.prepend(id)
    }
  }

  private func expire(at now: Uptime) {
    while let (id, delivery) = attempts.expire(at: now) {
      counts.timeouts += 1
      switch delivery.place {
      case .waiting:
        counts.waiting -= 1
        answers.append((delivery.answer, .failed(neverSent)))
      case .stream(let link, let place):
        counts.inFlight -= 1
        let connection = connection(link)
        connection?.session.cancel(place, attempt: id)
        connection?.isDirty = true
        let failure = TransportFailure(.timeout, "timeout: no answer in time")
        answers.append((delivery.answer, .failed(failure)))
      }
    }
    while let id = waiting.first, !attempts.contains(id) { waiting.removeFirst() }
  }

  private var neverSent: TransportFailure {
    let reason =
      pool.open > 0
      ? "no free stream in time" : counts.lastError ?? "no connection in time"
    return TransportFailure(.unreachable, "unreachable: \(reason)")
  }

  // MARK: - Time

  private func arm() {
    var next = attempts.nextDeadline
    for other in [pool.nextTimer, stopping?.graceUntil] {
      if let other { next = min(next ?? other, other) }
    }
    guard let next, ended != nil || attempts.count > 0 else { return }
    if let timer, timer.at <= next { return }
    timer?.scheduled.cancel()
    let scheduled = eventLoop.scheduleTask(deadline: next.deadline) { self.timerFired() }
    timer = (next, scheduled)
  }

  private func timerFired() {
    timer = nil
    let now = now
    expire(at: now)
    perform(pool.timerFired(at: now))
    if let stopping, stopping.graceUntil <= now {
      perform(pool.closeAll(at: now))
      self.stopping?.graceUntil = Uptime(milliseconds: .max)
    }
    turn()
  }

  private func publish() {
    counts.connections = pool.open
    published.withLock { $0 = counts }
  }

  private func endIfDone() {
    guard stopping != nil, connections.isEmpty, attempts.count == 0, answers.isEmpty,
      let ended
    else { return }
    self.ended = nil
    timer?.scheduled.cancel()
    timer = nil
    ended()
  }
}

extension Uptime {
  /// Rounds up, so that no deadline ends early.
  init(_ deadline: NIODeadline) {
    self.init(milliseconds: Int64((deadline.uptimeNanoseconds + 999_999) / 1_000_000))
  }

  var deadline: NIODeadline {
    let capped = max(0, min(milliseconds, Int64.max / 1_000_000))
    return .uptimeNanoseconds(UInt64(capped) * 1_000_000)
  }
}
