import CCurl

/// A server's answer, with any status.
package struct HTTPAnswer: Sendable {
  package var status: Int
  /// The header fields in the order received, with names in lower case.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  package init(status: Int, headers: [(name: String, value: String)], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The value of the first header field with this name. Give the name in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The server's clock when it answered (`Date`), in seconds since 1970; nil if it did not tell.
  package var serverSeconds: Int64? {
    guard let field = header("date") else { return nil }
    let seconds = zr_curl_date(field)
    return seconds < 0 ? nil : seconds
  }

  /// How many seconds the server asks the client to wait (`Retry-After`, in seconds or as a date);
  /// nil if the server states no time.
  package var retryAfterSeconds: Int64? {
    guard let field = header("retry-after") else { return nil }
    let seconds = zr_curl_retry_after(field)
    return seconds < 0 ? nil : seconds
  }

  /// The body as text; invalid UTF-8 is replaced.
  package var text: String { String(decoding: body, as: UTF8.self) }

  package var isSuccess: Bool { (200...299).contains(status) }
}
