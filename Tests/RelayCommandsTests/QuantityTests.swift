import RelayCore
import Testing

@testable import RelayCommands

@Suite struct QuantityTests {
  @Test(arguments: [
    ("500ms", Span(milliseconds: 500)), ("20s", .seconds(20)), ("20m", .minutes(20)),
    ("1h", .hours(1)), ("30d", .days(30)), ("0s", .zero),
  ]) func `durations are read and shown`(_ text: String, _ span: Span) {
    #expect(Quantity.span(text) == span)
    #expect(Quantity.text(span) == text)
  }

  @Test(arguments: ["", "5", "s", "-5s", "1.5h", "5 s", "5S", "٣s"])
  func `malformed durations are refused`(_ text: String) {
    #expect(Quantity.span(text) == nil)
  }

  @Test(arguments: [("512", 512), ("4KiB", 4_096), ("4MiB", 4 << 20), ("1GiB", 1 << 30)])
  func `sizes are read and shown`(_ text: String, _ bytes: Int) {
    #expect(Quantity.size(text) == bytes)
    #expect(Quantity.text(bytes: bytes) == text)
  }

  @Test(arguments: ["", "4KB", "KiB", "-1", "1.5MiB"])
  func `malformed sizes are refused`(_ text: String) {
    #expect(Quantity.size(text) == nil)
  }

  /// So the operator reads that the number is out of range, and not that it is no number.
  @Test func `numbers that are too large count as the largest number`() {
    #expect(Quantity.span("9223372036854775807d") == Span(milliseconds: .max))
    #expect(Quantity.size("9223372036854775807GiB") == .max)
    #expect(Quantity.count("99999999999999999999") == .max && Quantity.count("2d") == nil)
  }

  @Test(arguments: ["127.0.0.1:8460", "[::1]:0", "localhost:65535"])
  func `addresses are read and shown`(_ text: String) {
    #expect(ListenAddress(text: text)?.description == text)
  }

  @Test(arguments: ["", "8460", ":8460", "h:", "h:65536", "::1:80", "[h]:80", "a b:1", "h/x:1"])
  func `malformed addresses are refused`(_ text: String) {
    #expect(ListenAddress(text: text) == nil)
  }
}
