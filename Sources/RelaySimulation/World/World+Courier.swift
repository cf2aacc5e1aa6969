import RelayCore

/// The random generator for the courier, and the number of the last connection to the courier.
struct CourierState {
  var draw: SeededRandom
  var lastConnection: UInt64 = 0
}

/// The courier: phones that poll or keep a stream open, disconnect, reconnect, and lose answers.
extension World {
  /// Opens a poll or a stream for a phone if the phone is registered.
  func connect(_ index: Int) {
    let client = clients[index]
    guard let daemon, client.registered == client.user else {
      return soonAtCourier(30_000, .connect(client: index))
    }
    if let line = client.line, line.life == life, courier.draw.below(3) > 0 { return }
    courier.lastConnection += 1
    let isStream = faults.isOver || courier.draw.below(2) == 0
    let line = CourierVisit(
      key: client.key, connection: courier.lastConnection, isStream: isStream, life: life)
    clients[index].line = line
    outcome.counts[.connections] += 1
    let after = isStream && courier.draw.below(2) == 0 ? client.lastWake[client.key] : nil
    if let after { observer.acknowledged(.wake(after), by: line.key) }
    daemon.add(.connected(line.key, line.connection, after: after))
    // A poll gets an empty answer after a while; a stream breaks at any time.
    if !faults.isOver {
      soonAtCourier(60_000, .leave(client: index, connection: line.connection))
    }
  }

  /// Ends a connection: by an empty answer, after which the phone polls again soon, or by a break.
  func leave(_ index: Int, _ connection: UInt64) {
    guard let line = clients[index].line, line.connection == connection else { return }
    if faults.isOver && line.isStream { return }
    let isAnswered = !line.isStream && courier.draw.below(2) == 0
    hangUp(index, isExpectedBack: isAnswered)
    soonAtCourier(isAnswered ? 1_000 : 120_000, .connect(client: index))
  }

  private func hangUp(_ index: Int, isExpectedBack: Bool) {
    guard let line = clients[index].line else { return }
    clients[index].line = nil
    guard line.life == life else { return }
    if isExpectedBack { observer.witness.left(line.key, at: now) }
    daemon?.add(.left(line.key, line.connection, isExpectedBack: isExpectedBack))
  }

  func hangUp(_ key: DeviceKey) {
    for index in clients.indices where clients[index].line?.key == key {
      clients[index].line = nil
      soonAtCourier(5_000, .connect(client: index))
    }
  }

  /// Hands a wake to the connected phone; the attempt fails if the phone is not connected.
  func tell(_ attempt: PushAttempt, _ taken: PushTaken) {
    guard let index = clients.firstIndex(where: { $0.line?.key == attempt.device }),
      let line = clients[index].line, line.life == life
    else {
      let absent = Verdict.later(after: nil, .attempt, .init("the device is not connected"))
      return soonAtCourier(20, .verdict(life: life, attempt, absent))
    }
    outcome.counts[.told] += 1
    if courier.draw.permille(plan[.courierBreaks]) {
      hangUp(index, isExpectedBack: false)
      let broken = Verdict.later(after: nil, .attempt, .init("the connection broke"))
      soonAtCourier(120_000, .connect(client: index))
      return soonAtCourier(3_000, .verdict(life: life, attempt, broken))
    }
    soonAtCourier(200, .told(life: life, client: index, connection: line.connection, taken))
  }

  /// Handles a wake that was written to a connection; the wake ends a poll.
  func told(_ index: Int, _ connection: UInt64, _ taken: PushTaken) throws {
    if let line = clients[index].line, line.connection == connection, !line.isStream {
      hangUp(index, isExpectedBack: true)
      soonAtCourier(courier.draw.below(3) == 0 ? 20_000 : 500, .connect(client: index))
    }
    let key = taken.attempt.device
    // If a background wake is lost on the way, a push must follow, provided that the device has an
    // address for a push. An alert is shown once, over the courier or by a push.
    let isFollowed = taken.attempt.intent == .background && !clients[index].isCourierOnly
    if !isFollowed || !courier.draw.permille(plan[.courierLost]) {
      observer.taken(taken)
      clients[index].lastWake[key] = taken.attempt.wake
      soonAtCourier(
        3_000, .woken(client: index, wake: taken.attempt.wake, user: key.user))
    }
    observer.shown(taken)
    try ended(taken.attempt, .delivered)
  }

  func soonAtCourier(_ most: Int64, _ event: WorldEvent) {
    at(Span(milliseconds: Int64(courier.draw.below(Int(most))) + 1), event)
  }
}

/// An open poll or stream.
struct CourierVisit {
  var key: DeviceKey
  var connection: UInt64
  var isStream: Bool
  var life: Int
}
