/// A client of a daemon's control socket (HTTP over a Unix socket), for operators' commands.
package struct ControlClient: Sendable {
  /// The path of the socket.
  package let socket: String
  private let client: HTTPClient
  private let timeout: Duration

  package init(
    socket: String, client: HTTPClient = HTTPClient(), timeout: Duration = .seconds(10)
  ) {
    self.socket = socket
    self.client = client
    self.timeout = timeout
  }

  /// Gets `path`, which begins with a slash and may carry a query.
  ///
  /// - Throws: ``ClientError``; `noSocket` and `refused` mean that the daemon does not run.
  package func get(_ path: String) async throws(ClientError) -> HTTPAnswer {
    try await client.send(request("GET", path))
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
