import RelayCore

/// The state of the simulated Apple.
struct AppleState {
  var draw: SeededRandom
  var nextToken: UInt16 = 1
  var isOut = false
  /// Tokens of removed apps, and the time of each removal.
  var dead: [[UInt8]: Instant] = [:]
}

/// The simulated Apple: it takes pushes, has outages, answers 429, leaves pushes unanswered, and
/// reports dead tokens.
extension SeasonWorld {
  static let outageReason = Verdict.Reason("ServiceUnavailable")

  func push(_ attempt: PushAttempt) throws {
    guard let daemon, let index = byClient[attempt.device.client],
      let text = PushText(attempt.payload)
    else {
      throw InvariantViolation(
        .everythingIsBounded, "a payload is no JSON, or is for an unknown device")
    }
    try observer.began(attempt, index, at: now)
    figures.attempts += 1
    let stepped = daemon.coordinator.stepped(in: attempt.id.partition)
    let taken = PushTaken(attempt: attempt, text: text, stepped: stepped)
    let soon = Span(milliseconds: Int64(50 + apple.draw.below(250)))
    func end(_ verdict: Verdict, after span: Span = soon) {
      at(span, .verdict(life: life, attempt, verdict))
    }
    if apple.isOut {
      let isRoutes = apple.draw.below(2) == 0
      end(.later(after: nil, isRoutes ? .route : .attempt, Self.outageReason))
    } else if let since = apple.dead[attempt.address.token] {
      end(.gone(at: since, .init("Unregistered")))
    } else if apple.draw.permille(plan.busy) {
      end(.later(after: .seconds(30), .device, .init("TooManyRequests")))
    } else if apple.draw.permille(plan.unanswered) {
      // Apple may have taken the push although it did not answer.
      if apple.draw.below(2) == 0 { at(soon, .taken(taken)) }
      end(.later(after: nil, .attempt, .init("deadline")), after: .seconds(10))
    } else {
      if mutant != .dropsPushes { at(soon, .taken(taken)) }
      end(.delivered)
    }
  }

  func taken(_ push: PushTaken) {
    guard let index = byClient[push.attempt.device.client] else { return }
    figures.pushes += 1
    observer.taken(push, index)
    guard phones[index].address.token == push.attempt.address.token else {
      figures.dropped += 1
      return
    }
    arrive(index)
  }

  func outage(_ begins: Bool) {
    guard let outages = plan.outages else { return }
    apple.isOut = begins
    at(
      apple.draw.gap(begins ? .minutes(12) : outages), .outage(begins: !begins))
  }
}
