/// How long the steps of a connection took, each counted from the beginning of the connection.
package struct ConnectTimes: Hashable, Sendable {
  /// The time until the host's name had an address.
  package var lookedUp: Duration
  /// The time until the server had accepted the connection.
  package var connected: Duration
  /// The time until TLS had verified the server; zero for a connection without TLS.
  package var secured: Duration

  /// The time of all steps.
  package var all: Duration { max(lookedUp, connected, secured) }
}
