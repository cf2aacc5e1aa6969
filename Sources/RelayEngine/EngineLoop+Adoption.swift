package import RelayCore

/// What a reload changes in the engine.
package struct Adoption: Sendable {
  /// Of these the policy, the retention and the grace are taken over; bounds are fixed at start.
  package var settings: EngineSettings
  /// New senders: of new routes, and of those whose credential or endpoint is another.
  package var started: [RouteKey: any PushSender]
  /// Routes that are no more. Their devices stay registered, and wait.
  package var ended: [RouteKey]

  package init(
    settings: EngineSettings, started: [RouteKey: any PushSender] = [:], ended: [RouteKey] = []
  ) {
    self.settings = settings
    self.started = started
    self.ended = ended
  }
}

extension EngineLoop {
  /// Between two steps, so that no decision is made half by old rules and half by new ones.
  mutating func adopt(_ adoption: Adoption, at now: Instant) {
    settings.policy = adoption.settings.policy
    settings.tombstonesKept = adoption.settings.tombstonesKept
    settings.notificationsKept = adoption.settings.notificationsKept
    settings.feedbackKept = adoption.settings.feedbackKept
    settings.trimEvery = adoption.settings.trimEvery
    nextTrim = min(nextTrim, now + settings.trimEvery)
    settings.drainGrace = adoption.settings.drainGrace
    relay.adopt(adoption.settings.policy, at: now)
    for route in adoption.ended.sorted() {
      outside.senders[route] = nil
      crew.dismiss(from: route)
      relay.withdraw(route)
    }
    for (route, sender) in adoption.started.sorted(by: { $0.key < $1.key }) {
      outside.senders[route] = sender
      crew.start(sender, on: route)
      relay.renew(route, at: now)
    }
  }
}
