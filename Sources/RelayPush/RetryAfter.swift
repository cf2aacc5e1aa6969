import CCurl
import RelayCore

/// How long a provider asks us to wait: a number of seconds or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// If a provider asks us to wait for longer, we ignore it: the lane then uses its own backoff.
  static let longest = Span.days(1)

  /// - Parameter field: the header field's value; nil if there was none.
  /// - Returns: the time to wait from now, 0 for a past date; nil if the field gives no time.
  static func span(_ field: String?) -> Span? {
    guard let field else { return nil }
    let seconds = zr_curl_retry_after(field)
    guard seconds >= 0, seconds <= longest.milliseconds / 1_000 else { return nil }
    return .seconds(seconds)
  }
}
