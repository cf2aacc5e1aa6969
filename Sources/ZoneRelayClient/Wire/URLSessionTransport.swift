internal import Foundation

#if canImport(FoundationNetworking)
  internal import FoundationNetworking
#endif

/// Sends requests with one `URLSession` for its whole life, without a cache and without cookies.
///
/// A request is not cancelled with the task that waits for it: it runs to its end or its timeout,
/// and its answer is dropped. On Linux, a cancelled task of `URLSession` has crashed processes.
public final class URLSessionTransport: RelayTransport {
  let session: URLSession

  /// - Parameter connectionsPerHost: how many connections the transport may have at once. One client
  ///   needs two: the courier holds one of them.
  public init(connectionsPerHost: Int = 4) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpMaximumConnectionsPerHost = connectionsPerHost
    configuration.urlCache = nil
    configuration.httpCookieStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    session = URLSession(configuration: configuration)
  }

  deinit { session.finishTasksAndInvalidate() }

  public func send(_ request: RelayRequest) async throws -> RelayAnswer {
    let outgoing = Self.outgoing(request)
    return try await withCheckedThrowingContinuation { continuation in
      session.dataTask(with: outgoing) { body, response, error in
        guard let response = response as? HTTPURLResponse, error == nil else {
          continuation.resume(throwing: error ?? URLError(.badServerResponse))
          return
        }
        var headers: [String: String] = [:]
        for (name, value) in response.allHeaderFields {
          headers["\(name)".lowercased()] = "\(value)"
        }
        continuation.resume(
          returning: RelayAnswer(
            status: response.statusCode, headers: headers, body: body ?? Data()))
      }.resume()
    }
  }

  static func outgoing(_ request: RelayRequest) -> URLRequest {
    var outgoing = URLRequest(url: request.url)
    outgoing.httpMethod = request.method
    outgoing.httpBody = request.body
    outgoing.timeoutInterval = Double(request.timeout.components.seconds)
    for (name, value) in request.headers { outgoing.setValue(value, forHTTPHeaderField: name) }
    return outgoing
  }
}
