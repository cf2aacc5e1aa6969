package import RelayCore

/// One POST for `WebEngine`. The URL may name any host.
package struct WebRequest: Sendable {
  package var url: String
  /// Complete lines, `name: value`, without line breaks.
  package var headers: [String]
  package var body: [UInt8]
  /// PEM file with the authorities to trust instead of the system's.
  package var trustRoots: String?
  /// The addresses that the request may go to.
  package var reach = Reach.anywhere

  package enum Reach: Hashable, Sendable {
    /// Every address is allowed, because the operator named the host.
    case anywhere
    /// Only `https` and public addresses are allowed, because a user's device named the host. The
    /// address is checked for every socket that is opened, so a name that later resolves
    /// differently is checked again.
    case internet
  }
}

/// Every bound of a web engine.
package struct WebLimits: Hashable, Sendable {
  /// The most requests on their way at once; further requests wait.
  package var transfersMax = 256
  /// The most of `transfersMax` for one host, so that a silent host leaves places to other hosts.
  package var transfersPerHostMax = 64
  /// The most of `transfersMax` for a host that has not earned more by quick answers.
  package var transfersPerNewHostMax = 8
  /// The most of `transfersMax` for all hosts together that have earned no place by quick answers.
  package var transfersToUnprovenMax = 64
  /// How many hosts are remembered with the places that they have earned by quick answers. If there
  /// are more, all idle hosts are forgotten.
  package var hostsKept = 1_024
  /// A host that needs longer for an answer counts as silent.
  package var slowAfter = Span.seconds(3)
  /// The most requests on their way or waiting. The engine refuses more as `full`.
  package var waitingMax = 4_096
  /// The most connections that are kept open without a request.
  package var idleConnectionsMax = 64
  /// The most bytes of an answer's body that the engine keeps.
  package var bodyBytesMax = 4_096
  /// How long open requests may still finish when the engine stops.
  package var stopGrace = Span.seconds(2)

  package init() {}
}
