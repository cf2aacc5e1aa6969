import HTTPTypes
import NIOHTTP1
import RelayCore

/// Rules of HTTP/1.1 that the parser does not watch over.
extension HTTPRequestHead {
  /// Why a request is refused whatever it asks for; nil: nothing is wrong with its head.
  var refusal: WireError? { textRefusal ?? hostRefusal ?? codingRefusal ?? lengthRefusal }

  /// In one field's value; in the target the parser takes none. A library may compare a text as
  /// Swift does, which takes long for thousands of marks on one letter.
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

  /// RFC 9112, 6.1: where such a request ends is not known, and nothing behind it is read.
  var framingRefusal: WireError? {
    guard headers.contains(name: "transfer-encoding") else { return nil }
    let codings = headers["transfer-encoding"]
    guard codings.count != 1 || !Self.isWord(codings[0], "chunked") else { return nil }
    return WireError(
      .badRequest,
      "Transfer-Encoding other than chunked is not supported; send chunked, or Content-Length",
      status: .notImplemented)
  }

  /// Whatever the case of its letters.
  private static func isWord(_ value: String, _ word: String) -> Bool {
    ByteOrdered.areSame(String(withoutBlanks(value)).lowercased(), word)
  }

  private var lengthRefusal: WireError? {
    // Digits alone: the parser has refused all else.
    guard let length = headers.first(name: "content-length"),
      Int(Self.withoutBlanks(length)) == nil
    else { return nil }
    return .endlessBody
  }

  /// RFC 9112, 3.2. HTTP/1.0 knows no Host, but two of them are two answers to one question in any
  /// version: what stands between may have believed the other one.
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

  /// RFC 9110, 5.5: blanks around a field's value are no part of it. The parser keeps those at its
  /// end.
  private static func withoutBlanks(_ value: String) -> Substring {
    var value = value[...]
    while let last = value.utf8.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      value.removeLast()
    }
    return value
  }

  /// RFC 3986: what stands in a name or address besides letters and digits, and before a port.
  private static let hostMarks = Set("-._~%!$&'()*+,;=:[]".utf8)

  /// RFC 9110, 8.4: a body is read as it comes.
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

  /// Nil: the parser has nothing to do with the error.
  init?(parsing error: any Error) {
    switch error {
    case let error as HTTPParserError: self.init(error)
    case is RequestDecoder.EndlessBody: self = .endlessBody
    default: return nil
    }
  }

  /// What came is no HTTP that the parser knows.
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
