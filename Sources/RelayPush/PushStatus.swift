import RelayEngine

/// What a route has done and is doing, for status and metrics. Counters count since start.
package struct PushStatus: Hashable, Sendable {
  /// Requests, connections and their errors.
  package var engine: EngineStatus
  /// Pushes that the provider accepted. The device may not have received them.
  package var delivered: Int
  /// Answers that the relay does not recognise; each one counts as a failed attempt.
  package var unknownAnswers: Int
  /// The last error of a connection, or else of a push; a dead token is no error. `nil` means that
  /// there was none.
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

  var health: SenderHealth {
    var health = SenderHealth()
    health.connections = engine.connections
    health.waiting = engine.waiting
    health.opened = Int64(engine.opened)
    health.resent = Int64(engine.resent)
    health.unanswered = Int64(engine.timeouts + engine.resets + engine.lost)
    health.unknownAnswers = Int64(unknownAnswers)
    return health
  }
}
