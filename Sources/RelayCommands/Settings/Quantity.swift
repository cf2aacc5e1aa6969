import RelayCore

/// Durations and sizes as people write them: parsed and printed.
enum Quantity {
  private typealias Unit = (name: String, scale: Int)
  private static let spans: [Unit] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  private static let sizes: [Unit] = [
    ("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
  ]

  static func count(_ text: String) -> Int? { Int(text) ?? product(text, [("", 1)]) }

  static func span(_ text: String) -> Span? {
    product(text, spans).map { Span(milliseconds: Int64($0)) }
  }

  /// The duration in the largest unit that gives a whole number.
  static func text(_ span: Span) -> String {
    let milliseconds = Int(span.milliseconds)
    let fit = spans.last { milliseconds.isMultiple(of: $0.scale) }
    guard let fit, milliseconds > 0 else { return "0s" }
    return "\(milliseconds / fit.scale)\(fit.name)"
  }

  /// A size in bytes. A number without a unit counts as bytes.
  static func size(_ text: String) -> Int? { product(text, sizes) }

  static func text(bytes: Int) -> String {
    let fit = sizes.last { bytes >= $0.scale && bytes.isMultiple(of: $0.scale) }
    guard let fit, fit.scale > 1 else { return "\(bytes)" }
    return "\(bytes / fit.scale)\(fit.name)"
  }

  private static func product(_ text: String, _ units: [Unit]) -> Int? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    let name = text.dropFirst(digits.count)
    guard !digits.isEmpty, let scale = units.first(where: { $0.name == name })?.scale else {
      return nil
    }
    // A number that is too large for `Int` is out of every range, too.
    let (product, overflow) = (Int(digits) ?? .max).multipliedReportingOverflow(by: scale)
    return overflow ? .max : product
  }
}
