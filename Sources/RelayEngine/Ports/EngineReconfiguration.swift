package import RelayCore

/// What a reload changes in the engine.
package struct EngineReconfiguration: Sendable {
  /// Of these the policy, the retention and the grace are taken over; bounds are fixed at start.
  package var settings: RelaySettings
  /// New senders: of new routes, and of those whose credential or endpoint is another.
  package var started: [RouteKey: any PushSender]
  /// Routes that are no more. Their devices stay registered, and wait.
  package var ended: [RouteKey]

  package init(
    settings: RelaySettings, started: [RouteKey: any PushSender] = [:], ended: [RouteKey] = []
  ) {
    self.settings = settings
    self.started = started
    self.ended = ended
  }
}
