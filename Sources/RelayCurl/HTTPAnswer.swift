import CCurl

/// A server's answer, with any status.
package struct HTTPAnswer: Sendable {
  package var status: Int
  /// The header fields in the order received, with names in lower case.
  package var headers: [(name: String, value: String)]
  package var body: [UInt8]

  /// The value of the first header field with this name. Give the name in lower case.
  package func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }

  /// The time of the server's clock at the answer (`Date`), in seconds since 1970; nil if the
  /// answer has no such date.
  package var serverSeconds: Int64? { seconds("date") { zr_curl_date($0) } }

  /// How many seconds the server asks the client to wait (`Retry-After`, in seconds or as a date);
  /// nil if the server states no time.
  package var retryAfterSeconds: Int64? { seconds("retry-after") { zr_curl_retry_after($0) } }

  private func seconds(_ name: String, _ read: (String) -> Int64) -> Int64? {
    header(name).map(read).flatMap { $0 < 0 ? nil : $0 }
  }

  /// The body as text; invalid UTF-8 is replaced.
  package var text: String { String(decoding: body, as: UTF8.self) }

  package var isSuccess: Bool { (200...299).contains(status) }
}
