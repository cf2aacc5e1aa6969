import RelayCore

/// The outcome of a request.
package enum Outcome: Sendable {
  case answered(Response)
  /// There is no answer. The provider certainly did not process the request if the code is
  /// `unreachable`, `notTaken`, `full`, `takenBack`, `stopped`, `address` or `invalid`. With any
  /// other code the provider may have processed the request. Then a caller that sends the request
  /// again either gives it the same id (for APNs, `apns-id`), or accepts that the provider may
  /// process the request twice.
  case failed(TransportFailure)
}

/// An answer, with the header fields that the request's shape keeps.
package struct Response: Sendable {
  package var status: Int
  package var headers: [(name: String, value: String)]
  /// The body's first bytes, at most as many as the engine's limit `bodyBytesMax`. The rest of a
  /// longer body is dropped.
  package var body: [UInt8]
  /// The connection that the answer came over, for `PushEngine.replace`; nil from `WebEngine`.
  package var link: LinkID?

  /// The value of the first field with that name, which must be in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// True if the provider must have accepted our credential to give this answer.
  var provesCredential: Bool {
    switch status {
    case 401, 403, 404, 405, 429: false
    default: (200..<500).contains(status)
    }
  }
}

/// Why a request got no answer.
package struct TransportFailure: Error, Hashable, Sendable {
  package var code: Code
  /// What happened, with the last error of the connection. Status and logs show this text. The
  /// text never holds the URL of a `WebRequest`, which may be a secret.
  package var message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// The failure of a request that began to leave.
  ///
  /// - Parameter isWhole: whether the whole request had left; if not, the provider cannot have
  ///   taken it.
  init(_ code: Code, _ message: String, isWhole: Bool) {
    let part = isWhole ? "" : ", and a part of the push had not left"
    self.init(isWhole ? code : code == .cutOff ? .stopped : .notTaken, message + part)
  }

  static let stopping = TransportFailure(.stopped, "the push engine is stopping")
  static let takenBack = TransportFailure(
    .takenBack, "recalled: what it names was withdrawn")

  /// The verdict for this failure: try again later, even if the outcome is unknown.
  var verdict: Verdict {
    let blame: Verdict.Blame =
      switch code {
      case .takenBack, .stopped: .recalled
      case .unreachable, .notTaken, .full, .address, .invalid: .unsent
      case .timeout, .reset, .lost, .cutOff: .attempt
      }
    return .later(after: nil, blame, Verdict.Reason(message))
  }

  package enum Code: String, Hashable, Sendable {
    /// The request was sent, but not answered within the attempt's timeout.
    case timeout
    /// The provider reset this one stream.
    case reset
    /// The connection ended before the answer came. The host may have processed the request.
    case lost
    /// The request was never sent: there was no connection, or no free stream or place, within the
    /// attempt's timeout; or the host of a `WebRequest` is unknown or refused the connection, or
    /// TLS failed.
    case unreachable
    /// The provider cannot have taken the request: a part of the request never left, for example
    /// because the HTTP/2 window stayed full, or the provider refused each stream of the request.
    case notTaken
    /// The host has no public address, and the `WebRequest` requires one.
    case address
    /// The `WebRequest` cannot be sent at all.
    case invalid
    /// The request was never sent: too many requests wait already.
    case full
    /// The request was not sent, or not processed, and the caller took it back because the push is
    /// no longer valid.
    case takenBack
    /// The request was not sent, or not processed, and the engine is stopping.
    case stopped
    /// The request was sent, but the stopping engine did not get an answer within `stopGrace`.
    case cutOff
  }
}
