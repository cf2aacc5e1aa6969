package import RelayCore

/// One POST to a host that is not known beforehand, for `WebEngine`.
package struct WebRequest: Sendable {
  package var url: String
  /// Whole lines, `name: value`; free of line breaks.
  package var headers: [String]
  package var body: [UInt8]
  /// PEM file with the authorities to trust instead of the system's.
  package var trustRoots: String?
  /// Where the request may go.
  package var reach = Reach.anywhere

  package init(
    url: String, headers: [String], body: [UInt8], trustRoots: String? = nil,
    reach: Reach = .anywhere
  ) {
    self.url = url
    self.headers = headers
    self.body = body
    self.trustRoots = trustRoots
    self.reach = reach
  }

  package enum Reach: Hashable, Sendable {
    /// The operator named the host.
    case anywhere
    /// A stranger named it: `https`, and only addresses that anybody could reach. Every socket is
    /// checked when it is opened, so a name that resolves otherwise the second time gains nothing.
    case internet
  }
}

/// What became of a request.
package enum WebOutcome: Sendable {
  case answered(WebAnswer)
  case failed(WebFailure)
}

package struct WebAnswer: Sendable {
  package var status: Int
  /// As the server wishes; nil if it named none, or one beyond a day.
  package var retryAfter: Span?
  /// At most `WebLimits.bodyBytesMax`; what is longer is cut.
  package var body: [UInt8]

  package init(status: Int, retryAfter: Span? = nil, body: [UInt8] = []) {
    self.status = status
    self.retryAfter = retryAfter
    self.body = body
  }
}

/// Why a request got no answer.
package struct WebFailure: Error, Hashable, Sendable {
  package var code: Code
  /// Ends up in status and logs: never holds the URL, which may be a secret.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package enum Code: String, Hashable, Sendable {
    /// Sent, and not answered in time; may have been processed.
    case timeout
    /// Its host has no address that a stranger may send us to.
    case address
    /// Never sent: no such host, refused, TLS failed, or no connection or place in time.
    case unreachable
    /// The connection ended before the answer; may have been processed.
    case lost
    /// Never sent: what it tells ended meanwhile.
    case takenBack
    /// It cannot be sent at all.
    case invalid
    /// Never sent: too many wait already.
    case full
    /// Never sent: the engine is stopping.
    case stopped
    /// Sent, and cut off after the grace: the engine is stopping; may have been processed.
    case cutOff
  }
}

/// Every bound of a web engine.
package struct WebLimits: Hashable, Sendable {
  /// Requests under way at once; more wait.
  package var transfersMax = 256
  /// Of these to one host, so that one which keeps silent leaves places to the others.
  package var transfersPerHostMax = 64
  /// Of those, to a host that has not earned more by quick answers.
  package var transfersPerNewHostMax = 8
  /// Of all, to hosts that have not answered quickly yet, or have kept silent since.
  package var transfersToUnprovenMax = 64
  /// A host that needs longer for an answer counts as silent.
  package var slowAfter = Span.seconds(3)
  /// Requests under way or waiting; beyond, `full`.
  package var waitingMax = 4_096
  /// Connections kept open without a request.
  package var idleConnectionsMax = 64
  /// Bytes of an answer's body that are kept.
  package var bodyBytesMax = 4_096
  /// What is under way may finish for this long when the engine is told to stop.
  package var stopGrace = Span.seconds(2)

  package init() {}
}
