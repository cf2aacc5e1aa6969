package import RelayCore

/// One POST of `WebEngine`, to a host that the configuration does not name.
package struct WebRequest: Sendable {
  package var url: String
  /// Complete lines, `name: value`, without line breaks.
  package var headers: [String]
  package var body: [UInt8]
  /// PEM file with the authorities to trust instead of the system's.
  package var trustRoots: String?
  /// The addresses that the request may go to.
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
    /// A user's device named the host: only `https`, and only public addresses. The address is
    /// checked for every socket that is opened, so a name that later resolves differently is
    /// checked again.
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
  /// At most `WebLimits.bodyBytesMax`; a longer body is cut.
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
  /// Shown in status and logs. Never holds the URL, which may be a secret.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package enum Code: String, Hashable, Sendable {
    /// Sent, and not answered in time. The host may have processed it.
    case timeout
    /// The host has no public address, and the request requires one.
    case address
    /// Never sent: the host is unknown or refused, TLS failed, or there was no connection or place
    /// in time.
    case unreachable
    /// The connection ended before the answer. The host may have processed the request.
    case lost
    /// Never sent: the caller took the push back, because it is no longer valid.
    case takenBack
    /// The request cannot be sent at all.
    case invalid
    /// Never sent: too many requests wait already.
    case full
    /// Never sent: the engine is stopping.
    case stopped
    /// Sent, and cut off after `stopGrace`: the engine is stopping. The host may have processed it.
    case cutOff
  }
}

/// Every bound of a web engine.
package struct WebLimits: Hashable, Sendable {
  /// Requests on their way at once; more wait.
  package var transfersMax = 256
  /// Of `transfersMax`, requests to one host, so that a silent host leaves places to the others.
  package var transfersPerHostMax = 64
  /// Of `transfersMax`, requests to a host that has not earned more by quick answers.
  package var transfersPerNewHostMax = 8
  /// Of `transfersMax`, requests to all hosts that have not answered quickly, or not lately.
  package var transfersToUnprovenMax = 64
  /// A host that needs longer for an answer counts as silent.
  package var slowAfter = Span.seconds(3)
  /// Requests on their way or waiting; more are refused as `full`.
  package var waitingMax = 4_096
  /// Connections kept open without a request.
  package var idleConnectionsMax = 64
  /// Bytes of an answer's body that are kept.
  package var bodyBytesMax = 4_096
  /// How long open requests may still finish when the engine is told to stop.
  package var stopGrace = Span.seconds(2)

  package init() {}
}
