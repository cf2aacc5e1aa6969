import Foundation
import RelayCore

/// How the text of one key is parsed, bounded and printed.
struct ValueParser<Value> {
  /// - Throws: `ValueError` without the key, which the caller adds.
  var read: (String) throws(ValueError) -> Value
  var show: (Value) -> String
}

extension ValueParser {
  /// Refuses each text for which `parse` returns nil.
  ///
  /// - Parameter refusal: what is wrong, such as `is no duration`; the text stands before it.
  init(
    _ refusal: String, remedy: String, show: @escaping (Value) -> String,
    parse: @escaping (String) -> Value?
  ) {
    self.show = show
    read = { text throws(ValueError) in
      if let value = parse(text) { return value }
      throw ValueError("'\(text)' \(refusal)", remedy: remedy)
    }
  }

  /// Refuses values outside the range.
  func within(_ range: ClosedRange<Value>, _ what: String) -> Self where Value: Comparable {
    let bounds = "from \(show(range.lowerBound)) to \(show(range.upperBound))"
    return Self(
      read: { text throws(ValueError) in
        let value = try read(text)
        if range.contains(value) { return value }
        throw ValueError("\(text) is out of range", remedy: "choose a \(what) \(bounds)")
      }, show: show)
  }

  /// Returns a parser that makes another value from the value that this parser has read.
  func then<Next>(
    show: @escaping (Next) -> String, _ next: @escaping (Value) throws(ValueError) -> Next
  ) -> ValueParser<Next> {
    ValueParser<Next>(read: { text throws(ValueError) in try next(try read(text)) }, show: show)
  }

  /// Refuses values for which `check` throws.
  func checked(_ check: @escaping (Value) throws(ValueError) -> Void) -> Self {
    then(show: show) { value throws(ValueError) in
      try check(value)
      return value
    }
  }
}

/// The value in a file or at an address, with the text that operators see in place of it.
struct Shown<Value> {
  var value: Value
  var text: String
}

extension ValueParser where Value == Span {
  static func span(_ range: ClosedRange<Span>) -> ValueParser {
    ValueParser(
      "is no duration", remedy: "write a whole number with ms, s, m, h or d", show: Quantity.text,
      parse: Quantity.span
    ).within(range, "duration")
  }
}

extension ValueParser where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> ValueParser {
    ValueParser(
      "is no whole number", remedy: "write digits only, without a unit", show: { "\($0)" },
      parse: Quantity.count
    ).within(range, "number")
  }

  /// A size in bytes.
  static func size(_ range: ClosedRange<Int>) -> ValueParser {
    ValueParser(
      "is no size", remedy: "write a whole number of bytes, or with KiB, MiB or GiB",
      show: Quantity.text(bytes:), parse: Quantity.size
    ).within(range, "size")
  }
}

extension ValueParser where Value == Bool {
  static var flag: ValueParser {
    ValueParser(
      "is neither true nor false", remedy: "write true or false", show: { "\($0)" },
      parse: { Bool($0) })
  }
}

extension ValueParser where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: ValueParser {
    ValueParser(
      "is not known",
      remedy: "choose one of \(Value.allCases.map(\.rawValue).joined(separator: ", "))",
      show: \.rawValue, parse: { Value(rawValue: $0) })
  }
}

extension ValueParser where Value == ListenAddress {
  static var address: ValueParser {
    ValueParser(
      "is no address to listen on", remedy: "write host:port, such as 127.0.0.1:8460",
      show: \.description, parse: { ListenAddress(text: $0) })
  }
}

extension ValueParser where Value == String {
  /// Takes every text.
  static var any: ValueParser {
    ValueParser(read: { text throws(ValueError) in text }, show: { $0 })
  }

  static func text(max: Int = 255) -> ValueParser {
    any.checked { text throws(ValueError) in
      guard !text.isEmpty, text.utf8.count <= max else {
        throw ValueError(
          text.isEmpty ? "is empty" : "is longer than \(max) bytes",
          remedy: "write 1 to \(max) bytes of text")
      }
    }
  }

  /// Letters, digits and `extra`: characters that are safe in a path, a header and a label.
  static func name(extra: String = "._-", max: Int = 255, exactly: Int? = nil) -> ValueParser {
    let length = exactly.map { "exactly \($0)" } ?? "1 to \(max)"
    let others = extra.isEmpty ? "" : " or one of \(extra)"
    let lengths = exactly.map { $0...$0 } ?? 1...max
    return ValueParser(
      "is not such a name",
      remedy: "write \(length) characters, each a letter, a digit\(others)", show: { $0 },
      parse: { text in
        let good = text.allSatisfy { character in
          extra.contains(character)
            || character.isASCII && (character.isLetter || character.isNumber)
        }
        return good && lengths.contains(text.utf8.count) ? text : nil
      })
  }

  /// An absolute URL of a server, without a final slash.
  static func url(schemes: [String]) -> ValueParser {
    ValueParser(
      "is no URL of a server",
      remedy: "write \(schemes.joined(separator: " or "))://host[:port], such as "
        + "\(schemes[0])://relay.example.com", show: { $0 },
      parse: { text in
        guard let url = URLComponents(string: text), url.isOfServer, url.query == nil,
          let scheme = url.scheme?.lowercased(), schemes.contains(scheme)
        else { return nil }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
      })
  }
}

extension URLComponents {
  /// True if the URL has a host, no port or a port from 1 to 65535, and neither a user nor a
  /// fragment.
  var isOfServer: Bool {
    host?.isEmpty == false && user == nil && fragment == nil
      && port.map { (1...65_535).contains($0) } ?? true
  }
}
