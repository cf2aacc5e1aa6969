/// A client of a daemon's control socket (HTTP over a Unix socket), for operators' commands.
package struct ControlClient: Sendable {
  private let client = HTTPClient()
  private let socket: String
  private let timeout: Duration

  /// - Parameter socket: the path of the socket.
  package init(socket: String, timeout: Duration = .seconds(10)) {
    (self.socket, self.timeout) = (socket, timeout)
  }

  /// Gets `path`, which begins with a slash and may carry a query.
  ///
  /// - Throws: ``ClientError``; `noSocket` and `refused` mean that the daemon does not run.
  package func get(_ path: String) async throws(ClientError) -> HTTPAnswer {
    try await client.send(request("GET", path))
  }

  /// Gets `path`. If the answer is a success, calls `body` with each piece of the answer's body as
  /// it arrives, until the daemon ends the answer. The client's timeout does not apply.
  ///
  /// - Parameter body: returns false to end the answer; then `cancelled` is thrown.
  /// - Throws: ``ClientError``, as `get` does.
  package func follow(
    _ path: String, _ body: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool
  ) async throws(ClientError) -> HTTPAnswer {
    var request = request("GET", path)
    request.timeout = nil
    return try await client.stream(request, body)
  }

  /// Posts a JSON body to `path`.
  ///
  /// - Throws: ``ClientError``; `noSocket` and `refused` mean that the daemon does not run.
  package func post(_ path: String, _ body: [UInt8]) async throws(ClientError) -> HTTPAnswer {
    var request = request("POST", path)
    request.body = body
    return try await client.send(request)
  }

  private func request(_ method: String, _ path: String) -> HTTPRequest {
    HTTPRequest(method, "http://zonerelay\(path)", timeout: timeout, unixSocket: socket)
  }
}
