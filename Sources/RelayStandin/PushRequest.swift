import Foundation

/// One request as it came over HTTP/2, whole.
struct PushRequest: Sendable {
  /// The connection it came on: 1 for the first since the start.
  var connection: Int
  var method: String
  var path: String
  /// Names in lower case, without the pseudo-headers, in the order they came.
  var headers: [(name: String, value: String)]
  /// The body, at most ``bodyBytesKept`` of it.
  var body: Data
  /// What the connection showed; nil: nothing.
  var certificate: PresentedCertificate?
  /// The true length of the body.
  var bodyBytes: Int

  /// More of a body is counted, not kept: it is refused anyway.
  static let bodyBytesKept = 65_536

  func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The body as a JSON object; nil if it is none.
  var payload: [String: Any]? {
    guard bodyBytes == body.count else { return nil }
    // A body that is no JSON is an ordinary finding here: the rules refuse it, the log shows null.
    return try? JSONSerialization.jsonObject(with: body) as? [String: Any]
  }

  /// What stands after `/3/device/` in the path; nil if the path is another one.
  var deviceToken: String? {
    if path == "/3/device" { return "" }
    let prefix = "/3/device/"
    guard path.hasPrefix(prefix) else { return nil }
    let token = path.dropFirst(prefix.count)
    return token.contains("/") || token.contains("?") ? nil : String(token)
  }
}
