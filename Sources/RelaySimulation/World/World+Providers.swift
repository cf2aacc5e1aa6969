import RelayCore

/// The state of the push providers.
struct ProviderState {
  var nextToken: UInt8 = 1
  var deadTokens: Set<UInt8> = []
  /// Routes without a provider, because the operator has removed it from the configuration.
  var missing: Set<RouteKey> = []
  /// Pushes that wait for a stream, and the pushes that were taken back.
  var waiting: Set<PushAttempt.ID> = []
  var recalled: Set<PushAttempt.ID> = []
  /// Accepted pushes whose devices have not received them yet.
  var accepted: [PushAttempt.ID: PushTaken] = [:]
}

/// The push providers: they take, delay and refuse pushes, leave some unanswered, and report dead
/// tokens.
extension World {
  /// The operator removes the route's provider from the configuration, or adds it again.
  func reload(_ route: RouteKey) {
    guard !faults.isOver else { return }
    let isBack = providers.missing.remove(route) != nil
    if !isBack { providers.missing.insert(route) }
    daemon?.add(
      .reconfigured(
        Coordinator.Reconfiguration(
          settings: plan.settings, started: isBack ? [route] : [], ended: isBack ? [] : [route])))
  }

  func push(_ attempt: PushAttempt) throws {
    guard let daemon, let text = PushText(attempt.payload) else {
      throw InvariantViolation(
        .everythingIsBounded, "a payload is no JSON: \(attempt.payload.count) bytes")
    }
    tell?(
      "  wake \(attempt.wake) of \(attempt.device.line) by \(attempt.route.transport.name): "
        + String(decoding: attempt.payload, as: UTF8.self))
    try demand(
      .everyDeviceIsWoken,
      attempt.route.transport == .courier || daemon.routes.contains(attempt.route),
      "a push over \(attempt.route), which has no sender")
    try check(attempt, text)
    outcome.counts[.pushes] += 1
    if attempt.intent == .alert { outcome.counts[.alerts] += 1 }
    let stepped = daemon.coordinator.stepped(in: attempt.id.partition)
    let taken = PushTaken(attempt: attempt, text: text, stepped: stepped)
    if attempt.route.transport == .courier { return tell(attempt, taken) }
    let token = attempt.address.token.first ?? 0
    let isSlow = draw.permille(plan[.providerSlow])
    let delay: Int64 = isSlow ? 8_000 : 80
    if isSlow { providers.waiting.insert(attempt.id) }
    func end(_ verdict: Verdict) { soon(delay, .verdict(life: life, attempt, verdict)) }
    if draw.permille(plan[.providerGone]) { providers.deadTokens.insert(token) }
    if providers.deadTokens.contains(token) {
      end(.gone(at: draw.below(3) == 0 ? now : nil, .init("Unregistered")))
    } else if draw.permille(plan[.routeRefused]) {
      end(.later(after: nil, .route, .init("InvalidProviderToken")))
    } else if draw.permille(plan[.providerLater]) {
      end(.later(after: .seconds(Int64(draw.below(20))), .device, .init("TooManyRequests")))
    } else if draw.permille(plan[.providerRejects]) {
      end(
        draw.below(3) == 0
          ? .tooLarge(.init("PayloadTooLarge")) : .rejected(.init("BadTopic")))
    } else if draw.permille(plan[.providerMute]) {
      if draw.below(2) == 0 { soon(delay, .taken(taken)) }
      let deadline = Verdict.later(after: nil, .attempt, .init("deadline"))
      at(.seconds(10), .verdict(life: life, attempt, deadline))
    } else {
      if mutant != .dropsPushes {
        providers.accepted[attempt.id] = taken
        soon(delay, .taken(taken))
      }
      let isHome = attempt.address.environment == World.home(of: token)
      end(isHome ? .delivered : .deliveredElsewhere)
    }
  }

  /// The provider's environment that issued the token.
  static func home(of token: UInt8) -> Environment {
    token.isMultiple(of: 3) ? .production : .development
  }

  /// The environment that the app reports, which is sometimes wrong.
  static func said(of token: UInt8) -> Environment {
    token.isMultiple(of: 4) ? home(of: token).other : home(of: token)
  }

  func taken(_ push: PushTaken) throws {
    if providers.recalled.contains(push.attempt.id) { return }
    providers.accepted[push.attempt.id] = nil
    // The push waited for its stream until now; it must not name zones whose share ended meanwhile.
    if providers.waiting.remove(push.attempt.id) != nil {
      try checkEnds(push.text, push.attempt.device)
    }
    observer.taken(push)
    guard let token = push.attempt.address.token.first,
      let index = clients.firstIndex(where: { $0.token == token })
    else { return }
    if draw.permille(plan[.wakeLost]) { return }
    soon(
      3_000,
      .woken(client: index, wake: push.attempt.wake, user: push.attempt.device.user))
  }

  /// Takes back a push that has not left yet.
  func recall(_ attempt: PushAttempt.ID) {
    guard providers.waiting.remove(attempt) != nil else { return }
    providers.recalled.insert(attempt)
    outcome.counts[.recalls] += 1
  }

  func ended(_ attempt: PushAttempt, _ verdict: Verdict) throws {
    guard let daemon else { return }
    providers.waiting.remove(attempt.id)
    let isRecalled = providers.recalled.remove(attempt.id) != nil
    let verdict = isRecalled ? .later(after: nil, .recalled, .init("taken back")) : verdict
    observer.ended(attempt, verdict)
    let accepted = providers.accepted.removeValue(forKey: attempt.id)
    switch verdict {
    case .delivered, .deliveredElsewhere:
      // The provider has accepted the push. The device may get the push later than this verdict,
      // but what the push names counts as told from now on.
      if let accepted { observer.taken(accepted) }
    default: break
    }
    daemon.add(.verdict(attempt, verdict))
  }
}
