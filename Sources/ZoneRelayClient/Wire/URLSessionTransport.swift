internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests with `URLSession`, without a cache and cookies. Its sessions are the same for the
/// transport's whole life.
///
/// A redirection is not followed, because the user's token would go to its target. The caller gets
/// the redirection as the answer.
///
/// An answer is an error if it has more bytes than ``RelayRequest/answerBytesMax``, or is not whole
/// within ``RelayRequest/timeout``.
///
/// A request is not cancelled with the task that waits for it: it runs to its end or its timeout,
/// and its answer is dropped. On Linux, a cancelled task of `URLSession` has crashed processes.
public final class URLSessionTransport: RelayTransport {
  let session: URLSession
  let answers = SessionAnswers()
  #if canImport(FoundationNetworking)
    /// Sends held requests, before each of them the short request of `warm`, and nothing else. If
    /// all requests shared one session, a request with a body could take the connection that `warm`
    /// has just used.
    private let heldSession: URLSession
    private let heldAnswers = SessionAnswers()
  #endif

  /// - Parameter connectionsPerHost: how many connections the transport may have at once. One
  ///   client needs two: the courier holds one of them.
  public init(connectionsPerHost: Int = 4) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration, delegate: answers, delegateQueue: nil)
    #if canImport(FoundationNetworking)
      heldSession = URLSession(
        configuration: configuration, delegate: heldAnswers, delegateQueue: nil)
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
        try await warm(request)
        return try await sendHeld(request)
      }
    #endif
    return try await answers.answer(
      of: session.dataTask(with: Self.outgoing(request)), to: request)
  }

  static func headers(of response: HTTPURLResponse) -> [String: String] {
    response.allHeaderFields.reduce(into: [:]) { headers, field in
      headers["\(field.key)".lowercased()] = "\(field.value)"
    }
  }

  static func outgoing(_ request: RelayRequest) -> URLRequest {
    var outgoing = URLRequest(url: request.url)
    outgoing.httpMethod = request.method
    outgoing.httpBody = request.body
    // This is the longest silence; `SessionAnswers` limits the whole time.
    outgoing.timeoutInterval = max(1, request.timeout / .seconds(1))
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
    private func warm(_ held: RelayRequest) async throws {
      guard var parts = URLComponents(url: held.url, resolvingAgainstBaseURL: true) else { return }
      (parts.path, parts.query) = ("/", nil)
      guard let root = parts.url else { return }
      _ = try await sendHeld(RelayRequest(method: "HEAD", url: root, timeout: held.timeout))
    }

    private func sendHeld(_ request: RelayRequest) async throws -> RelayAnswer {
      try await heldAnswers.answer(
        of: heldSession.dataTask(with: Self.outgoing(request)), to: request)
    }
  #endif
}
