/// How long the steps of a connection took, each counted from its beginning.
package struct ConnectTimes: Hashable, Sendable {
  /// Until the host's name had an address.
  package var lookedUp: Duration
  /// Until the server had accepted the connection.
  package var connected: Duration
  /// Until TLS had verified the server; zero for a connection without TLS.
  package var secured: Duration

  /// The time of all steps.
  package var all: Duration { max(lookedUp, connected, secured) }
}
