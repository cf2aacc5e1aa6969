extension Coordinator {
  /// Performs the core's effects in their order. This is the only switch over effects.
  mutating func perform(
    _ effects: [Effect], at now: Instant, origin: GroupCommit.Origin = .none
  ) {
    for effect in effects {
      switch effect {
      case .answer(let partition, let ordinal, let answer, let moment):
        settle(answer, moment, partition, ordinal, origin)
      case .dirtied(let place): actions.append(.dirtied(place))
      case .journal(let partition, let fact): journal(fact, in: partition)
      case .push(let attempt): push(attempt, at: now)
      case .recall(let attempts, let place):
        for attempt in attempts where pushes.contains(attempt) {
          reach(.pushRecalled)
          answers.waits(for: place)
          actions.append(.recall(attempt, for: place))
        }
      case .retired(let route, let reason): actions.append(.event(.retired(route, reason)))
      case .circuit(let route, let reason): actions.append(.event(.circuit(route, reason)))
      case .pruning(let route, let stop): actions.append(.event(.pruning(route, stop)))
      case .hurried(let scope): hurried(scope, at: now)
      case .hangUp(let device): actions.append(.hangUp(device))
      }
    }
  }

  /// Reports a hot change that exceeds its smear's rate, at most once in ten minutes, because each
  /// partition reports it again with each slice.
  private mutating func hurried(_ scope: Scope, at now: Instant) {
    guard counters.hurried.map({ $0 + .minutes(10) <= now }) ?? true else { return }
    counters.hurried = now
    actions.append(.event(.hurried(scope)))
  }

  private mutating func settle(
    _ answer: Answer, _ moment: Answer.Moment, _ partition: PartitionID, _ ordinal: Ordinal,
    _ origin: GroupCommit.Origin
  ) {
    guard case .request(let ticket) = origin else { return }
    counters.count(answer)
    reach(moment == .stepped ? .answeredWhenStepped : .answerWaited)
    if moment == .stepped {
      self.answer(PendingAnswers.Due(ticket: ticket, answer: answer))
    } else {
      answers.wait(ticket, answer, moment, partition, ordinal)
    }
  }

  mutating func answer(_ due: PendingAnswers.Due) { requests.answer(due, into: &actions) }

  private mutating func push(_ attempt: PushAttempt, at now: Instant) {
    if !pushes.add(attempt) {
      // The route's lanes wait until a reload adds the route again.
      reach(.pushWithoutSender)
      relay.withdraw(attempt.route, at: now)
    }
    actions.append(.push(attempt))
  }

  mutating func ended(
    _ attempt: PushAttempt, _ verdict: Verdict, at now: Instant, _ effects: inout [Effect]
  ) {
    pushes.ended(attempt.id)
    switch verdict {
    case .delivered, .gone, .later: break
    case .deliveredElsewhere, .tooLarge, .rejected:
      actions.append(.event(.answered(attempt, verdict)))
    }
    relay.attemptEnded(attempt, inRelayTime(verdict), at: now, into: &effects)
  }
}
