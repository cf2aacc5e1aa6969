import RelayEngine

/// What a push engine has done and is doing. Counters count since its creation.
package struct EngineStatus: Hashable, Sendable {
  /// Connections that take requests now.
  package var connections = 0
  /// Requests that are on a stream now.
  package var inFlight = 0
  /// Requests that wait for a connection or a stream now.
  package var waiting = 0
  /// Requests put on a stream; a request that is sent again counts again.
  package var sent = 0
  package var answered = 0
  /// Requests sent again because the provider certainly did not process them.
  package var resent = 0
  package var timeouts = 0
  package var resets = 0
  /// Requests that ended with their connection; their outcome is unknown.
  package var lost = 0
  package var opened = 0
  /// Writes to sockets. Under load, one write carries many requests.
  package var writes = 0
  package var goAways = 0
  /// The last error of a connection; nil once a connection has opened since.
  package var lastError: String?

  package init() {}
}

extension SenderHealth {
  /// - Parameter unknownAnswers: how many answers the sender did not recognise.
  init(_ engine: EngineStatus, unknownAnswers: Int) {
    self.init()
    connections = engine.connections
    waiting = engine.waiting
    opened = Int64(engine.opened)
    resent = Int64(engine.resent)
    unanswered = Int64(engine.timeouts + engine.resets + engine.lost)
    self.unknownAnswers = Int64(unknownAnswers)
  }
}
