import HTTPTypes
import NIOHTTP1
import RelayCore

/// Rules of HTTP/1.1 that the parser does not enforce.
extension HTTPRequestHead {
  /// Why a request is refused because of its head; nil: the head is valid.
  var refusal: WireError? { textRefusal ?? hostRefusal ?? codingRefusal ?? lengthRefusal }

  /// How many bytes beyond ASCII one field's value may have; the parser accepts none in the target.
  /// A library may compare texts with Swift's `==`, which takes long for thousands of marks on one
  /// letter.
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

  /// RFC 9112, 6.1: with another coding the end of a request is not known, so nothing after it is
  /// read.
  var framingRefusal: WireError? {
    guard headers.contains(name: "transfer-encoding") else { return nil }
    let codings = headers["transfer-encoding"]
    guard codings.count != 1 || !Self.isWord(codings[0], "chunked") else { return nil }
    return WireError(
      .badRequest,
      "Transfer-Encoding other than chunked is not supported; send chunked, or Content-Length",
      status: .notImplemented)
  }

  /// Compares without regard to case.
  private static func isWord(_ value: String, _ word: String) -> Bool {
    ByteOrdered.areSame(String(withoutBlanks(value)).lowercased(), word)
  }

  private var lengthRefusal: WireError? {
    // The value has only digits: the parser has refused everything else.
    guard let length = headers.first(name: "content-length"),
      Int(Self.withoutBlanks(length)) == nil
    else { return nil }
    return .endlessBody
  }

  /// RFC 9112, 3.2. HTTP/1.0 has no Host. Two Host fields are refused in any version, because a
  /// proxy on the way may have used the other one.
  private var hostRefusal: WireError? {
    let hosts = headers["host"]
    if hosts.count > 1 { return WireError(.badRequest, "Host stands more than once; send it once") }
    guard let host = hosts.first else {
      return isOfHTTP10 ? nil : WireError(.badRequest, "Host is missing; HTTP/1.1 demands it")
    }
    let isGood = Self.withoutBlanks(host).utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"):
        true
      default: Self.hostMarks.contains(byte)
      }
    }
    return isGood ? nil : WireError(.badRequest, "Host must be host or host:port")
  }

  /// RFC 9110, 5.5: blanks around a field's value do not belong to it. The parser keeps those at
  /// its end.
  private static func withoutBlanks(_ value: String) -> Substring {
    var value = value[...]
    while let last = value.utf8.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      value.removeLast()
    }
    return value
  }

  /// RFC 3986: the characters besides letters and digits in a host name or address, and before a
  /// port.
  private static let hostMarks = Set("-._~%!$&'()*+,;=:[]".utf8)

  /// RFC 9110, 8.4: the relay reads a body as it arrives and decodes none.
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

extension WireError {
  fileprivate static let endlessBody = WireError(
    .quotaExceeded, "Content-Length is more than any body may have; split the request")

  /// Nil: the error does not come from the parser.
  init?(parsing error: any Error) {
    switch error {
    case let error as HTTPParserError: self.init(error)
    case is RequestDecoder.EndlessBody: self = .endlessBody
    default: return nil
    }
  }

  /// The answer to bytes that the parser does not accept as HTTP.
  init(_ error: HTTPParserError) {
    switch error {
    case .headerOverflow:
      self.init(
        .badRequest, "the header fields are too many or too long",
        status: .requestHeaderFieldsTooLarge)
    case .invalidVersion:
      self.init(
        .badRequest, "this HTTP version is not supported; speak HTTP/1.1",
        status: .httpVersionNotSupported)
    default: self.init(.badRequest, "this is no HTTP/1.1 request")
    }
  }
}
