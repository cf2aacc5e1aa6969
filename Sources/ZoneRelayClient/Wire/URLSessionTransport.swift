internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests with `URLSession`, the same for its whole life, without a cache and cookies.
///
/// A redirection is not followed, because the user's token would go where it leads: it is the
/// answer.
///
/// A request is not cancelled with the task that waits for it: it runs to its end or its timeout,
/// and its answer is dropped. On Linux, a cancelled task of `URLSession` has crashed processes.
public final class URLSessionTransport: RelayTransport {
  let session: URLSession
  #if canImport(FoundationNetworking)
    /// Sends held requests, and nothing else. In the other session a request with a body could take
    /// the connection that `warm` has prepared.
    private let heldSession: URLSession
  #endif

  /// - Parameter connectionsPerHost: how many connections the transport may have at once. One
  ///   client needs two: the courier holds one of them.
  public init(connectionsPerHost: Int = 4) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
    #if canImport(FoundationNetworking)
      heldSession = URLSession(configuration: configuration)
    #endif
  }

  deinit {
    session.finishTasksAndInvalidate()
    #if canImport(FoundationNetworking)
      heldSession.finishTasksAndInvalidate()
    #endif
  }

  public func send(_ request: RelayRequest) async throws -> RelayAnswer {
    #if canImport(FoundationNetworking)
      if request.isHeld {
        try await warm(request.url)
        return try await perform(Self.outgoing(request), in: heldSession)
      }
    #endif
    return try await perform(Self.outgoing(request), in: session)
  }

  private func perform(
    _ request: URLRequest, in session: URLSession
  ) async throws -> RelayAnswer {
    try await withCheckedThrowingContinuation { continuation in
      let task = session.dataTask(with: request) { body, response, error in
        guard let response = response as? HTTPURLResponse, error == nil else {
          continuation.resume(throwing: error ?? URLError(.badServerResponse))
          return
        }
        continuation.resume(
          returning: RelayAnswer(
            status: response.statusCode, headers: Self.headers(of: response), body: body ?? Data()))
      }
      task.delegate = Self.redirections
      task.resume()
    }
  }

  static let redirections = RefusedRedirections()

  static func headers(of response: HTTPURLResponse) -> [String: String] {
    var headers: [String: String] = [:]
    for (name, value) in response.allHeaderFields { headers["\(name)".lowercased()] = "\(value)" }
    return headers
  }

  static func outgoing(_ request: RelayRequest) -> URLRequest {
    var outgoing = URLRequest(url: request.url)
    outgoing.httpMethod = request.method
    outgoing.httpBody = request.body
    outgoing.timeoutInterval = Double(request.timeout.components.seconds)
    for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }
    #if canImport(FoundationNetworking)
      // On Linux, URLSession may send a request again on a new connection, after the old one has
      // died. It then leaves out the body, and keeps a core busy until the timeout. So a request
      // with a body never uses an old connection.
      if request.body != nil { outgoing.setValue("close", forHTTPHeaderField: "Connection") }
    #endif
    return outgoing
  }

  #if canImport(FoundationNetworking)
    /// On Linux, URLSession keeps a core busy while it waits for the first answer on a new
    /// connection. A short request before the held one leaves a connection that is not new.
    private func warm(_ url: URL) async throws {
      guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return }
      (parts.path, parts.query) = ("/", nil)
      guard let root = parts.url else { return }
      var request = URLRequest(url: root)
      request.httpMethod = "HEAD"
      _ = try await perform(request, in: heldSession)
    }
  #endif
}

/// Follows no redirection.
final class RefusedRedirections: NSObject, URLSessionTaskDelegate {
  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    completionHandler(nil)
  }
}
