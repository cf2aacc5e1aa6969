/// Why a request got no answer. An answer of any status is not an error.
package struct ClientError: Error, CustomStringConvertible, Sendable {
  /// The stable name of a kind of failure.
  package struct Code: Hashable, Sendable {
    package let name: String
    private init(_ name: String) { self.name = name }

    /// The server takes no connection, for example because no process listens at the address.
    package static let refused = Code("client_refused")
    /// The Unix socket does not exist.
    package static let noSocket = Code("client_no_socket")
    /// This user may not connect to the Unix socket.
    package static let forbidden = Code("client_forbidden")
    /// The request timed out; whether the server processed it is not known.
    package static let timeout = Code("client_timeout")
    /// The host has no address.
    package static let noHost = Code("client_no_host")
    /// The TLS handshake failed, or the server's certificate is not trusted.
    package static let tls = Code("client_tls")
    /// The connection ended early; whether the server processed the request is not known.
    package static let connectionLost = Code("client_connection_lost")
    /// The request itself cannot be sent.
    package static let badRequest = Code("client_bad_request")
    /// The answer is longer than the client allows.
    package static let answerTooLarge = Code("client_answer_too_large")
    /// The waiting task was cancelled.
    package static let cancelled = Code("client_cancelled")
    /// Any other failure; the message carries libcurl's text.
    package static let failed = Code("client_failed")
  }

  package let code: Code
  /// What happened, at which address, and why.
  package let message: String
  /// What the user can do about the failure.
  package let remedy: String

  package var description: String { "\(message); \(remedy)" }
}
