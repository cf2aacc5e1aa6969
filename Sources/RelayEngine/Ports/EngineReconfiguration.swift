package import RelayCore

/// What a reload changes in the engine.
package struct EngineReconfiguration: Sendable {
  /// A reload applies the policy, the retention, the trim interval and the grace of these settings;
  /// bounds are fixed at the start.
  package var settings: RelaySettings
  /// New senders: for new routes, and for routes whose credential or endpoint has changed.
  package var started: [RouteKey: any PushSender]
  /// Routes that were removed. The devices of these routes stay registered, and their lanes wait.
  package var ended: [RouteKey]

  package init(
    settings: RelaySettings, started: [RouteKey: any PushSender] = [:], ended: [RouteKey] = []
  ) {
    (self.settings, self.started, self.ended) = (settings, started, ended)
  }
}
