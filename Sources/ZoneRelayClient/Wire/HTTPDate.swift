internal import Foundation

/// The date of a header field, in one of the three forms of RFC 9110, section 5.6.7.
enum HTTPDate {
  private static let forms = [
    "EEE',' dd MMM yyyy HH':'mm':'ss 'GMT'",  // Sun, 06 Nov 1994 08:49:37 GMT
    "EEEE',' dd'-'MMM'-'yy HH':'mm':'ss 'GMT'",  // Sunday, 06-Nov-94 08:49:37 GMT
    "EEE MMM d HH':'mm':'ss yyyy",  // Sun Nov  6 08:49:37 1994
  ]

  /// - Returns: the date; nil if the text has none of the three forms.
  static func read(_ text: String) -> Date? {
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(secondsFromGMT: 0)
    for form in forms {
      formatter.dateFormat = form
      if let date = formatter.date(from: text) { return date }
    }
    return nil
  }
}
