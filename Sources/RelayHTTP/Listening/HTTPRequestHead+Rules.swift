import HTTPTypes
import NIOHTTP1
import RelayCore

/// Rules of HTTP/1.1 that the parser does not enforce.
extension HTTPRequestHead {
  /// The refusal of a request because of its head; `nil` means that the head is valid.
  var refusal: WireError? { textRefusal ?? hostRefusal ?? codingRefusal ?? lengthRefusal }

  /// The most bytes beyond ASCII that the value of one field may have. The parser accepts no such
  /// byte in the request target. A library may compare texts with Swift's `==`, which takes long
  /// for thousands of combining marks on one letter.
  static let bytesBeyondASCII = 1_024

  private var textRefusal: WireError? {
    guard let field = headers.first(where: { Self.isLong($0.value) }) else { return nil }
    return WireError(
      .badRequest,
      "\(field.name) has more than \(Self.bytesBeyondASCII) bytes beyond ASCII; escape them",
      status: .requestHeaderFieldsTooLarge)
  }

  private static func isLong(_ text: String) -> Bool {
    text.utf8.count > bytesBeyondASCII && text.utf8.count { $0 >= 0x80 } > bytesBeyondASCII
  }

  /// The refusal of a transfer coding other than `chunked` (RFC 9112, 6.1). The end of such a
  /// request is not known, so nothing after it is read.
  var framingRefusal: WireError? {
    guard headers.contains(name: "transfer-encoding") else { return nil }
    let codings = headers["transfer-encoding"]
    guard codings.count != 1 || !Self.isWord(codings[0], "chunked") else { return nil }
    return WireError(
      .badRequest,
      "Transfer-Encoding other than chunked is not supported; send chunked, or Content-Length",
      status: .notImplemented)
  }

  /// True if `value` without blanks at its end is `word`, without regard to case.
  private static func isWord(_ value: String, _ word: String) -> Bool {
    ByteOrdered.areSame(String(withoutBlanks(value)).lowercased(), word)
  }

  private var lengthRefusal: WireError? {
    // The value has only digits, because the parser has refused any other value.
    guard let length = headers.first(name: "content-length"),
      Int(Self.withoutBlanks(length)) == nil
    else { return nil }
    return .endlessBody
  }

  /// The refusal of a missing, repeated or malformed Host field (RFC 9112, 3.2). HTTP/1.0 needs no
  /// Host. Two Host fields are refused in any version, because a proxy may have used the second
  /// field and the relay would use the first.
  private var hostRefusal: WireError? {
    let hosts = headers["host"]
    if hosts.count > 1 { return WireError(.badRequest, "Host stands more than once; send it once") }
    guard let host = hosts.first else {
      return isOfHTTP10 ? nil : WireError(.badRequest, "Host is missing; HTTP/1.1 demands it")
    }
    let isGood = Self.withoutBlanks(host).utf8.allSatisfy(Self.isOfHost)
    return isGood ? nil : WireError(.badRequest, "Host must be host or host:port")
  }

  /// The value without the blanks at its end. Blanks around a field's value do not belong to the
  /// value (RFC 9110, 5.5), but the parser keeps the blanks at its end.
  private static func withoutBlanks(_ value: String) -> Substring {
    var value = value[...]
    while let last = value.utf8.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      value.removeLast()
    }
    return value
  }

  /// True for a character that a Host field may have: in a host name or address, in a port, or as
  /// the colon before a port (RFC 3986).
  private static func isOfHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: hostMarks.contains(byte)
    }
  }

  private static let hostMarks = Set("-._~%!$&'()*+,;=:[]".utf8)

  /// The refusal of a body with a content coding (RFC 9110, 8.4), because the relay decodes no
  /// body.
  private var codingRefusal: WireError? {
    guard headers.contains(name: "content-encoding") else { return nil }
    let codings = headers[canonicalForm: "content-encoding"]
    guard codings.contains(where: { $0.lowercased() != "identity" }) else { return nil }
    return WireError(
      .badRequest, "Content-Encoding is not supported; send the body as it is",
      status: .unsupportedMediaType)
  }

  var isOfHTTP10: Bool { version == .http1_0 }
}
