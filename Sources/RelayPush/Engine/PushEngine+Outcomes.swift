import NIOCore
import RelayCore
import RelayEngine
import Synchronization

/// The engine's work with outcomes and time: answers requests, sends again what was not processed,
/// and ends what waits for too long. All of it runs on the event loop.
extension PushEngine {
  func stop() {
    eventLoop.assertInEventLoop()
    guard graceUntil == nil else { return }
    let now = Uptime.now
    graceUntil = now + settings.limits.stopGrace
    while let id = waiting.popFirst() { finish(id, .failed(.stopping)) }
    perform(pool.stop(at: now))
    turn()
  }

  /// Delivers outcomes at the beginning of a turn. A request that a receiver then sends belongs to
  /// this turn, and the `status` that a receiver then reads includes these outcomes.
  func deliver() {
    guard !answers.isEmpty else { return }
    publish()
    swap(&answers, &delivering)
    for (answer, outcome) in delivering { answer(outcome) }
    delivering.removeAll(keepingCapacity: true)
  }

  /// The connection has written these requests completely to its socket.
  func written(_ ids: [AttemptID]) {
    for id in ids { attempts.with(id) { $0.handover?.written() } }
  }

  /// Answers the request, unless it has been answered already.
  func finish(_ id: AttemptID, _ outcome: Outcome) {
    eventLoop.assertInEventLoop()
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
    if graceUntil != nil {
      finish(id, .failed(.stopping))
    } else if resends > settings.limits.resendsMax {
      finish(id, .failed(TransportFailure(.notTaken, "refused \(resends) times")))
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
        let isWhole = connection?.session.cancel(place, attempt: id) ?? true
        connection?.isDirty = true
        // Perhaps the provider never makes room on this connection. On a new one there is room.
        if !isWhole { perform(pool.drain(link, at: now)) }
        let failure = TransportFailure(.timeout, "timeout: no answer in time", isWhole: isWhole)
        answers.append((delivery.answer, .failed(failure)))
      }
    }
    while let id = waiting.first, !attempts.contains(id) { waiting.removeFirst() }
  }

  var neverSent: TransportFailure {
    let reason =
      pool.open > 0
      ? "no free stream in time" : counts.lastError ?? "no connection in time"
    return TransportFailure(.unreachable, "unreachable: \(reason)")
  }

  // MARK: - Time

  func arm() {
    var next = attempts.nextDeadline
    for other in [pool.nextTimer, graceUntil] {
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
    let now = Uptime.now
    expire(at: now)
    perform(pool.timerFired(at: now))
    if let graceUntil, graceUntil <= now {
      perform(pool.closeAll(at: now))
      self.graceUntil = Uptime(milliseconds: .max)
    }
    turn()
  }

  func publish() {
    counts.connections = pool.open
    published.withLock { $0 = counts }
  }

  func endIfDone() {
    guard graceUntil != nil, connections.isEmpty, attempts.count == 0, answers.isEmpty,
      let ended
    else { return }
    self.ended = nil
    timer?.scheduled.cancel()
    timer = nil
    ended()
  }
}
