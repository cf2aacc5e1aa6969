import Logging
import RelayCore

extension EngineLoop {
  /// The one switch over what the core wants done.
  mutating func perform(
    _ effects: [Effect], at now: Instant, origin: GroupCommit.Origin = .none
  ) {
    for effect in effects {
      switch effect {
      case .answer(let partition, let ordinal, let answer, let moment):
        settle(answer, moment, partition, ordinal, origin)
      case .dirtied(let place):
        visibility.dirtied([place])
      case .journal(let partition, let fact):
        journal(fact, in: partition)
      case .push(let attempt):
        push(attempt)
      case .recall(let attempts, let place):
        for attempt in attempts { takeBack(attempt, for: place) }
      case .retired(let route, let reason):
        logger.info("device retired", metadata: route.metadata(reason))
      case .circuit(let route, let reason):
        log(stopped: reason, route)
      case .pruning(let route, let stop):
        log(stop, on: route)
      case .hurried(let scope):
        hurried(scope, at: now)
      case .hangUp(let device):
        outside.courier?.hangUp(device)
      }
    }
  }

  /// Every partition says so for itself, and slice by slice: told once in ten minutes.
  private mutating func hurried(_ scope: Scope, at now: Instant) {
    guard tally.hurried.map({ $0 + .minutes(10) <= now }) ?? true else { return }
    tally.hurried = now
    logger.warning(
      "a hot change wakes more devices than smearing.rate allows in smearing.longest: faster",
      metadata: ["container": "\(scope.container)", "environment": "\(scope.environment.name)"])
  }

  /// A fact of our own. Slices keep the pace of folds.
  mutating func journal(_ fact: Fact, in partition: PartitionID) {
    if case .slice = fact { return slices.add(fact, in: partition) }
    commit.add(GroupCommit.Waiting(partition: partition, fact: fact, origin: .none))
  }

  private mutating func settle(
    _ answer: Answer, _ moment: Answer.Moment, _ partition: PartitionID, _ ordinal: Ordinal,
    _ origin: GroupCommit.Origin
  ) {
    guard case .submission(let ticket) = origin else { return }
    tally.count(answer)
    if moment == .stepped {
      self.answer(Settling.Due(ticket: ticket, answer: answer))
    } else {
      settling.wait(ticket, answer, moment, partition, ordinal)
    }
  }

  mutating func answer(_ due: Settling.Due) {
    inbox.release(desk.answer(due))
  }

  private mutating func push(_ attempt: PushAttempt) {
    let inbox = inbox
    let handover = Handover()
    handovers[attempt.id] = handover
    if attempt.route.transport == .courier, let courier = outside.courier {
      // The courier writes it at once to the device that is connected.
      _ = handover.begin()
      return courier.tell(attempt.device, wake: attempt.wake, payload: attempt.payload) {
        inbox.post(.verdict(attempt, $0))
      }
    }
    guard let sender = outside.senders[attempt.route] else {
      // Its environment or provider was taken out of the configuration between two lives: its
      // devices wait there until a reload brings it back.
      relay.withdraw(attempt.route)
      let reason = Verdict.Reason("no provider is configured for this route")
      inbox.post(.verdict(attempt, .later(after: nil, .unsent, reason)))
      return
    }
    let push = Push(
      id: outside.keys.pushID(device: attempt.device, wake: attempt.wake),
      address: attempt.address, intent: attempt.intent, expires: attempt.expires,
      collapse: attempt.collapse.map { outside.keys.collapseID($0) }, payload: attempt.payload)
    sender.send(push, handover) { inbox.post(.verdict(attempt, $0)) }
  }

  /// The fact at this place is answered once the push cannot leave any more.
  private mutating func takeBack(_ attempt: PushAttempt.ID, for place: FactPlace) {
    guard let handover = handovers[attempt] else { return }
    let inbox = inbox
    if !handover.takeBack({ inbox.post(.takenBack(place)) }) { settling.waits(for: place) }
  }

  /// Only what an operator cares about: a healthy day is quiet.
  func log(_ verdict: Verdict, of attempt: PushAttempt) {
    switch verdict {
    case .delivered, .gone, .later: return
    case .deliveredElsewhere:
      logger.info(
        "device found in the provider's other environment",
        metadata: attempt.route.metadata(Verdict.Reason("it took the push")))
    case .tooLarge(let reason):
      logger.error("push too large", metadata: attempt.route.metadata(reason))
    case .rejected(let reason):
      logger.error("push rejected", metadata: attempt.route.metadata(reason))
    }
  }

  private func log(stopped reason: Verdict.Reason?, _ route: RouteKey) {
    guard let reason else {
      return logger.notice(
        "route goes on", metadata: route.metadata(Verdict.Reason("its provider answers")))
    }
    logger.warning("route stopped", metadata: route.metadata(reason))
  }

  private func log(_ stop: Pruning.Stop?, on route: RouteKey) {
    guard let stop else {
      return logger.notice(
        "retiring devices again", metadata: route.metadata(Verdict.Reason("few are called dead")))
    }
    var metadata = route.metadata(Verdict.Reason(stop.reason))
    metadata["dead"] = "\(stop.dead)"
    metadata["users"] = "\(stop.users)"
    logger.error("too many devices called dead, none is retired", metadata: metadata)
  }
}

extension RouteKey {
  fileprivate func metadata(_ reason: Verdict.Reason) -> Logger.Metadata {
    [
      "container": "\(scope.container)", "environment": "\(scope.environment.name)",
      "transport": "\(transport.name)", "topic": "\(topic)", "reason": "\(reason)",
    ]
  }
}
