import RelayEngine

/// What a route has done and is doing, for status and metrics. Counters count since start.
package struct PushStatus: Hashable, Sendable {
  /// Requests, connections, and what went wrong with them.
  package var engine: EngineStatus
  /// Taken by the provider. Not: by the device.
  package var delivered: Int
  /// Answers that no list of ours knows; each was treated as a failed attempt.
  package var unknownAnswers: Int
  /// The last failure that is not the device's own; nil if there was none.
  package var lastError: String?

  package init(
    engine: EngineStatus = EngineStatus(), delivered: Int = 0, unknownAnswers: Int = 0,
    lastError: String? = nil
  ) {
    self.engine = engine
    self.delivered = delivered
    self.unknownAnswers = unknownAnswers
    self.lastError = lastError
  }

  var vitals: SenderVitals {
    var vitals = SenderVitals()
    vitals.connections = engine.connections
    vitals.waiting = engine.waiting
    vitals.opened = Int64(engine.opened)
    vitals.resent = Int64(engine.resent)
    vitals.unanswered = Int64(engine.timeouts + engine.resets + engine.lost)
    vitals.unknownAnswers = Int64(unknownAnswers)
    return vitals
  }
}
