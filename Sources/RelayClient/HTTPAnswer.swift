import CCurl

/// What a server answered, whatever the status.
package struct HTTPAnswer: Sendable {
  package var status: Int
  /// In the order they came, names in lower case.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The first header of that name, given in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The answer's wish to wait, whether it named seconds or a date; nil if it named neither.
  package var retryAfterSeconds: Int64? {
    guard let field = header("retry-after") else { return nil }
    let seconds = zr_curl_retry_after(field)
    return seconds < 0 ? nil : seconds
  }

  /// The body as text; bytes that are no UTF-8 are replaced.
  package var text: String { String(decoding: body, as: UTF8.self) }

  package var isSuccess: Bool { (200...299).contains(status) }
}
