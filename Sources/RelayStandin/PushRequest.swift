import Foundation

/// One request to a stand-in, as received over HTTP/2 or HTTP/1.1.
struct PushRequest: Sendable {
  /// The number of the request's connection: 1 for the first since the start. Only the APNs
  /// stand-in numbers connections; in requests to other stand-ins the number is 0.
  var connection = 0
  var method: String
  var path: String
  /// The headers in the order received, with names in lower case and without pseudo-headers.
  var headers: [(name: String, value: String)]
  /// The first bytes of the body, at most ``bodyBytesKept``.
  var body = Data()
  /// The client's certificate; nil if the client presented none.
  var certificate: PresentedCertificate?
  /// The full length of the body.
  var bodyBytes = 0

  /// How many bytes of a body are kept. Further bytes are only counted, because a request with so
  /// long a body is refused anyway.
  static let bodyBytesKept = 65_536

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The body as a JSON object; nil if the body is not a complete JSON object.
  var payload: [String: Any]? {
    guard bodyBytes == body.count else { return nil }
    // A body that is not JSON is a normal input: the rules refuse it, the log shows null.
    return try? JSONSerialization.jsonObject(with: body) as? [String: Any]
  }

  /// The text after `/3/device/` in the path; nil for any other path.
  var deviceToken: String? {
    if path == "/3/device" { return "" }
    let prefix = "/3/device/"
    guard path.hasPrefix(prefix) else { return nil }
    let token = path.dropFirst(prefix.count)
    return token.contains("/") || token.contains("?") ? nil : String(token)
  }
}
