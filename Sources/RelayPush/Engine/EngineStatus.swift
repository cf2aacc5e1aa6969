/// What a push engine has done and is doing. Counters count since it was made.
package struct EngineStatus: Hashable, Sendable {
  /// Connections that take requests now.
  package var connections = 0
  /// Requests that are on a stream now.
  package var inFlight = 0
  /// Requests that wait for a connection or a stream now.
  package var waiting = 0
  /// Requests put on a stream; one that is sent again counts again.
  package var sent = 0
  package var answered = 0
  /// Sent again, because certainly not processed.
  package var resent = 0
  package var timeouts = 0
  package var resets = 0
  /// Ended with their connection, outcome unknown.
  package var lost = 0
  /// Refused because too many waited.
  package var full = 0
  package var opened = 0
  /// Writes to sockets: far fewer than `sent` when there is much to do.
  package var writes = 0
  package var goAways = 0
  /// The last thing that went wrong with a connection; nil once one has opened since.
  package var lastError: String?

  package init() {}
}
