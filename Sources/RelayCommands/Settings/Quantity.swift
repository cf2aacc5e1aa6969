import RelayCore

/// Durations and sizes as people write them: parsed and printed.
enum Quantity {
  private static let spans: [(unit: String, milliseconds: Int64)] = [
    ("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
  ]
  private static let sizes: [(unit: String, bytes: Int)] = [
    ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30),
  ]

  static func span(_ text: String) -> Span? {
    guard let (count, unit) = split(text),
      let scale = spans.first(where: { $0.unit == unit })?.milliseconds
    else { return nil }
    let (product, overflow) = Int64(count).multipliedReportingOverflow(by: scale)
    return overflow ? nil : Span(milliseconds: product)
  }

  /// The duration in the largest unit that gives a whole number.
  static func text(_ span: Span) -> String {
    let fit = spans.last { span.milliseconds.isMultiple(of: $0.milliseconds) }
    guard let fit, span.milliseconds > 0 else { return "0s" }
    return "\(span.milliseconds / fit.milliseconds)\(fit.unit)"
  }

  /// A size in bytes. A number without a unit counts as bytes.
  static func size(_ text: String) -> Int? {
    guard let (count, unit) = split(text) else { return nil }
    guard let scale = unit.isEmpty ? 1 : sizes.first(where: { $0.unit == unit })?.bytes else {
      return nil
    }
    let (product, overflow) = count.multipliedReportingOverflow(by: scale)
    return overflow ? nil : product
  }

  static func text(bytes: Int) -> String {
    let fit = sizes.last { bytes >= $0.bytes && bytes.isMultiple(of: $0.bytes) }
    guard let fit, fit.bytes > 1 else { return "\(bytes)" }
    return "\(bytes / fit.bytes)\(fit.unit)"
  }

  private static func split(_ text: String) -> (count: Int, unit: String)? {
    let digits = text.prefix { $0.isASCII && $0.isNumber }
    guard let count = Int(digits) else { return nil }
    return (count, String(text.dropFirst(digits.count)))
  }
}
