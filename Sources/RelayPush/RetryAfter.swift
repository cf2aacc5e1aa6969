import CCurl
import RelayCore

/// A provider's wish to wait: a number of seconds or a date (RFC 9110, section 10.2.3).
enum RetryAfter {
  /// Longer wishes are none: the lane then has its own backoff.
  static let longest = Span.days(1)

  /// - Parameter field: the header field's value; nil if there was none.
  /// - Returns: from now on, 0 for a date that is over; nil if the field asks for nothing.
  static func span(_ field: String?) -> Span? {
    guard let field else { return nil }
    let seconds = zr_curl_retry_after(field)
    guard seconds >= 0, seconds <= longest.milliseconds / 1_000 else { return nil }
    return .seconds(seconds)
  }
}
