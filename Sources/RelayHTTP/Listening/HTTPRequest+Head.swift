import HTTPTypes
import NIOHTTP1

extension HTTPRequest {
  /// Returns `nil` if the method is not valid.
  init?(_ head: HTTPRequestHead) {
    guard let method = Method(head.method.rawValue) else { return nil }
    var fields = HTTPFields()
    fields.reserveCapacity(head.headers.count)
    var authority: String?
    for (text, value) in head.headers {
      guard let name = HTTPField.Name(text) else { continue }
      // The first `Host` is the authority. The scheme in the request does not matter to the relay.
      if authority == nil, name == .host {
        authority = value
      } else {
        fields.append(HTTPField(name: name, value: value))
      }
    }
    self.init(
      method: method, scheme: "http", authority: authority, path: Self.path(of: head.uri),
      headerFields: fields)
  }

  /// The path of a request target. A proxy may send a whole URL as the target.
  private static func path(of target: String) -> String {
    guard !target.hasPrefix("/"), let scheme = target.firstRange(of: "://") else { return target }
    return target[scheme.upperBound...].firstIndex(of: "/").map { String(target[$0...]) } ?? "/"
  }
}

extension HTTPField.Name {
  fileprivate static let host = Self("Host")!
}
