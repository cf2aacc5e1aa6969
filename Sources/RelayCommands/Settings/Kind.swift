import Foundation
import RelayCore

/// How the text of one key is read, bounded and shown again.
struct Kind<Value> {
  /// - Throws: `Wrong` without the key: who reads it knows the key.
  var read: (String) throws(Wrong) -> Value
  var show: (Value) -> String
}

extension Kind where Value == Span {
  static func span(_ range: ClosedRange<Span>) -> Kind {
    let bounds = "from \(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
    return Kind(
      read: { text throws(Wrong) in
        guard let span = Quantity.span(text) else {
          throw Wrong(
            "'\(text)' is no duration", remedy: "write a whole number with ms, s, m, h or d")
        }
        guard range.contains(span) else {
          throw Wrong("\(text) is out of range", remedy: "choose a duration \(bounds)")
        }
        return span
      }, show: Quantity.text)
  }
}

extension Kind where Value == Int {
  static func count(_ range: ClosedRange<Int>) -> Kind {
    Kind(
      read: { text throws(Wrong) in
        guard let count = Int(text) else {
          throw Wrong("'\(text)' is no whole number", remedy: "write digits only, without a unit")
        }
        guard range.contains(count) else {
          throw Wrong(
            "\(text) is out of range",
            remedy: "choose a number from \(range.lowerBound) to \(range.upperBound)")
        }
        return count
      }, show: { "\($0)" })
  }

  /// Bytes.
  static func size(_ range: ClosedRange<Int>) -> Kind {
    let bounds =
      "from \(Quantity.text(bytes: range.lowerBound)) to \(Quantity.text(bytes: range.upperBound))"
    return Kind(
      read: { text throws(Wrong) in
        guard let bytes = Quantity.size(text) else {
          throw Wrong(
            "'\(text)' is no size", remedy: "write a whole number of bytes, or with KiB, MiB or GiB"
          )
        }
        guard range.contains(bytes) else {
          throw Wrong("\(text) is out of range", remedy: "choose a size \(bounds)")
        }
        return bytes
      }, show: Quantity.text(bytes:))
  }
}

extension Kind where Value == Bool {
  static var flag: Kind {
    Kind(
      read: { text throws(Wrong) in
        switch text {
        case "true": true
        case "false": false
        default: throw Wrong("'\(text)' is neither true nor false", remedy: "write true or false")
        }
      }, show: { "\($0)" })
  }
}

extension Kind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  static var choice: Kind {
    Kind(
      read: { text throws(Wrong) in
        guard let value = Value(rawValue: text) else {
          let known = Value.allCases.map(\.rawValue).joined(separator: ", ")
          throw Wrong("'\(text)' is not known", remedy: "choose one of \(known)")
        }
        return value
      }, show: \.rawValue)
  }
}

extension Kind where Value == ListenAddress {
  static var address: Kind {
    Kind(
      read: { text throws(Wrong) in
        guard let address = ListenAddress(text: text) else {
          throw Wrong(
            "'\(text)' is no address to listen on",
            remedy: "write host:port, such as 127.0.0.1:8460")
        }
        return address
      }, show: \.description)
  }
}

extension Kind where Value == String {
  static func text(max: Int = 255) -> Kind {
    Kind(
      read: { text throws(Wrong) in
        guard !text.isEmpty, text.utf8.count <= max else {
          throw Wrong(
            text.isEmpty ? "is empty" : "is longer than \(max) bytes",
            remedy: "write 1 to \(max) bytes of text")
        }
        return text
      }, show: { $0 })
  }

  /// Letters, digits and `extra`: what may stand in a path, a header, a label.
  static func name(extra: String = "._-", max: Int = 255, exactly: Int? = nil) -> Kind {
    let length = exactly.map { "exactly \($0)" } ?? "1 to \(max)"
    let others = extra.isEmpty ? "" : " or one of \(extra)"
    return Kind(
      read: { text throws(Wrong) in
        let good = text.allSatisfy { character in
          extra.contains(character)
            || character.isASCII && (character.isLetter || character.isNumber)
        }
        guard good, (exactly.map { $0...$0 } ?? 1...max).contains(text.utf8.count) else {
          throw Wrong(
            "'\(text)' is not such a name",
            remedy: "write \(length) characters, each a letter, a digit\(others)")
        }
        return text
      }, show: { $0 })
  }

  /// An absolute URL of a server, without a final slash.
  static func url(schemes: [String]) -> Kind {
    Kind(
      read: { text throws(Wrong) in
        let example = "\(schemes[0])://relay.example.com"
        guard let url = URLComponents(string: text), let host = url.host, !host.isEmpty,
          let scheme = url.scheme?.lowercased(), schemes.contains(scheme),
          url.query == nil, url.fragment == nil, url.user == nil,
          url.port.map({ (1...65_535).contains($0) }) ?? true
        else {
          throw Wrong(
            "'\(text)' is no URL of a server",
            remedy: "write \(schemes.joined(separator: " or "))://host[:port], such as \(example)")
        }
        return text.hasSuffix("/") ? String(text.dropLast()) : text
      }, show: { $0 })
  }
}
