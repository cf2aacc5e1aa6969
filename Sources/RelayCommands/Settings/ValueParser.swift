import Foundation
import RelayCore

/// How the text of one key is parsed, bounded and printed.
struct ValueParser<Value> {
  /// - Throws: `ValueError` without the key, which the caller adds.
  var read: (String) throws(ValueError) -> Value
  var show: (Value) -> String
}

extension ValueParser where Value == Span {
  static func span(_ range: ClosedRange<Span>) -> ValueParser {
    let bounds = "from \(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
    return ValueParser(
      read: { text throws(ValueError) in
        guard let span = Quantity.span(text) else {
          throw ValueError(
            "'\(text)' is no duration", remedy: "write a whole number with ms, s, m, h or d")
        }
        guard range.contains(span) else {
          throw ValueError("\(text) is out of range", remedy: "choose a duration \(bounds)")
        }
        return span
      }, show: Quantity.text)
  }
}

extension ValueParser where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        guard let count = Int(text) else {
          throw ValueError(
            "'\(text)' is no whole number", remedy: "write digits only, without a unit")
        }
        guard range.contains(count) else {
          throw ValueError(
            "\(text) is out of range",
            remedy: "choose a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
      }, show: { "\($0)" })
  }

  /// A size in bytes.
  static func size(_ range: ClosedRange<Int>) -> ValueParser {
    let bounds =
      "from \(Quantity.text(bytes: range.lowerBound)) to \(Quantity.text(bytes: range.upperBound))"
    return ValueParser(
      read: { text throws(ValueError) in
        guard let bytes = Quantity.size(text) else {
          throw ValueError(
            "'\(text)' is no size", remedy: "write a whole number of bytes, or with KiB, MiB or GiB"
          )
        }
        guard range.contains(bytes) else {
          throw ValueError("\(text) is out of range", remedy: "choose a size \(bounds)")
        }
        return bytes
      }, show: Quantity.text(bytes:))
  }
}

extension ValueParser where Value == Bool {
  static var flag: ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        switch text {
        case "true": true
        case "false": false
        default:
          throw ValueError("'\(text)' is neither true nor false", remedy: "write true or false")
        }
      }, show: { "\($0)" })
  }
}

extension ValueParser where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        guard let value = Value(rawValue: text) else {
          let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
          throw ValueError("'\(text)' is not known", remedy: "choose one of \(known)")
        }
        return value
      }, show: \.rawValue)
  }
}

extension ValueParser where Value == ListenAddress {
  static var address: ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        guard let address = ListenAddress(text: text) else {
          throw ValueError(
            "'\(text)' is no address to listen on",
            remedy: "write host:port, such as 127.0.0.1:8460")
        }
        return address
      }, show: \.description)
  }
}

extension ValueParser where Value == String {
  static func text(max: Int = 255) -> ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        guard !text.isEmpty, text.utf8.count <= max else {
          throw ValueError(
            text.isEmpty ? "is empty" : "is longer than \(max) bytes",
            remedy: "write 1 to \(max) bytes of text")
        }
        return text
      }, show: { $0 })
  }

  /// Letters, digits and `extra`: characters that are safe in a path, a header and a label.
  static func name(extra: String = "._-", max: Int = 255, exactly: Int? = nil) -> ValueParser {
    let length = exactly.map { "exactly \($0)" } ?? "1 to \(max)"
    let others = extra.isEmpty ? "" : " or one of \(extra)"
    return ValueParser(
      read: { text throws(ValueError) in
        let good = text.allSatisfy { character in
          extra.contains(character)
            || character.isASCII && (character.isLetter || character.isNumber)
        }
        guard good, (exactly.map { $0...$0 } ?? 1...max).contains(text.utf8.count) else {
          throw ValueError(
            "'\(text)' is not such a name",
            remedy: "write \(length) characters, each a letter, a digit\(others)")
        }
        return text
      }, show: { $0 })
  }

  /// An absolute URL of a server, without a final slash.
  static func url(schemes: [String]) -> ValueParser {
    ValueParser(
      read: { text throws(ValueError) in
        let example = "\(schemes[0])://relay.example.com"
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
          let scheme = url.scheme?.lowercased(), schemes.contains(scheme),
          url.query == nil, url.fragment == nil, url.user == nil,
          url.port.map({ (1...65_535).contains($0) }) ?? true
        else {
          throw ValueError(
            "'\(text)' is no URL of a server",
            remedy: "write \(schemes.joined(separator: " or "))://host[:port], such as \(example)")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
      }, show: { $0 })
  }
}
