import Foundation

/// One complete request, as received over HTTP/2.
struct PushRequest: Sendable {
  /// The number of the request's connection: 1 for the first since the start.
  var connection: Int
  var method: String
  var path: String
  /// Names in lower case, without the pseudo-headers, in the order received.
  var headers: [(name: String, value: String)]
  /// The body, at most ``bodyBytesKept`` of it.
  var body: Data
  /// The connection's certificate; nil: it showed none.
  var certificate: PresentedCertificate?
  /// The full length of the body.
  var bodyBytes: Int

  /// Bytes beyond this are only counted: such a request is refused anyway.
  static let bodyBytesKept = 65_536

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The body as a JSON object; nil if it is not one.
  var payload: [String: Any]? {
    guard bodyBytes == body.count else { return nil }
    // A body that is not JSON is a normal input: the rules refuse it, the log shows null.
    return try? JSONSerialization.jsonObject(with: body) as? [String: Any]
  }

  /// The text after `/3/device/` in the path; nil for another path.
  var deviceToken: String? {
    if path == "/3/device" { return "" }
    let prefix = "/3/device/"
    guard path.hasPrefix(prefix) else { return nil }
    let token = path.dropFirst(prefix.count)
    return token.contains("/") || token.contains("?") ? nil : String(token)
  }
}
