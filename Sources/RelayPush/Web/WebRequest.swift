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

/// The outcome of a request.
package enum WebOutcome: Sendable {
  case answered(WebAnswer)
  case failed(WebFailure)
}

package struct WebAnswer: Sendable {
  package var status: Int
  /// How long the server asks us to wait; nil if it named no time, or more than a day.
  package var retryAfter: Span?
  /// At most `WebLimits.bodyBytesMax` bytes; the rest of a longer body is dropped.
  package var body: [UInt8] = []
}

/// Why a request got no answer.
package struct WebFailure: Error, Hashable, Sendable {
  package var code: Code
  /// The text that status and logs show. It never holds the URL, which may be a secret.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package enum Code: String, Hashable, Sendable {
    /// The request was sent, but not answered in time. The host may have processed it.
    case timeout
    /// The host has no public address, and the request requires one.
    case address
    /// The request was never sent: the host is unknown or refused, TLS failed, or there was no
    /// connection or place in time.
    case unreachable
    /// The connection ended before the answer. The host may have processed the request.
    case lost
    /// The request was never sent: the caller took it back, because the push is no longer valid.
    case takenBack
    /// The request cannot be sent at all.
    case invalid
    /// The request was never sent: too many requests wait already.
    case full
    /// The request was never sent: the engine is stopping.
    case stopped
    /// The request was sent, but the stopping engine did not get an answer within `stopGrace`. The
    /// host may have processed the request.
    case cutOff
  }
}

/// Every bound of a web engine.
package struct WebLimits: Hashable, Sendable {
  /// The most requests on their way at once; more wait.
  package var transfersMax = 256
  /// The most of `transfersMax` for one host, so that a silent host leaves places to the others.
  package var transfersPerHostMax = 64
  /// The most of `transfersMax` for a host that has not earned more by quick answers.
  package var transfersPerNewHostMax = 8
  /// The most of `transfersMax` for all hosts together that have earned no place by quick answers.
  package var transfersToUnprovenMax = 64
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
