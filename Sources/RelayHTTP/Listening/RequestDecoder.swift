import HTTPTypes
import NIOCore
import NIOHTTP1

/// NIO's parser, but with an error of its own for a `Content-Length` that is a number and too large
/// for any body.
final class RequestDecoder: ByteToMessageDecoder {
  typealias InboundOut = HTTPServerRequestPart

  /// The request's `Content-Length` has only digits, and the number is larger than the parser
  /// accepts.
  struct EndlessBody: Error {}

  /// The most bytes of one request's target, and of the names and values of its header fields and
  /// trailers, all together. With the parser's own limit of 2 MiB, a thousand connections that
  /// never end their heads would take 2 GiB.
  static let headBytes = 64 << 10

  private let parser: HTTPRequestDecoder = {
    var limits = NIOHTTPDecoderLimitConfiguration()
    limits.maxHeaderFieldSize = headBytes
    limits.maxHeaderListSize = headBytes
    return HTTPRequestDecoder(limitConfiguration: limits)
  }()

  func decoderAdded(context: ChannelHandlerContext) { parser.decoderAdded(context: context) }
  func decoderRemoved(context: ChannelHandlerContext) { parser.decoderRemoved(context: context) }

  func decode(
    context: ChannelHandlerContext, buffer: inout ByteBuffer
  ) throws -> DecodingState {
    do {
      return try parser.decode(context: context, buffer: &buffer)
    } catch HTTPParserError.invalidContentLength where Self.isEndless(buffer) {
      throw EndlessBody()
    }
  }

  func decodeLast(
    context: ChannelHandlerContext, buffer: inout ByteBuffer, seenEOF: Bool
  ) throws -> DecodingState {
    try parser.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
  }

  /// True if `buffer` has a `Content-Length` of digits that is too large. Called only after the
  /// parser has failed.
  private static func isEndless(_ buffer: ByteBuffer) -> Bool {
    let name = "content-length:"
    let lines = buffer.readableBytesView.split {
      $0 == UInt8(ascii: "\r") || $0 == UInt8(ascii: "\n")
    }
    return lines.contains { line in
      guard line.count > name.utf8.count + "18446744073709551615".utf8.count - 1,
        Substring(decoding: line.prefix(name.utf8.count), as: UTF8.self).lowercased() == name
      else { return false }
      let value = line.dropFirst(name.utf8.count).drop { $0 == UInt8(ascii: " ") }
      return value.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")) ~= $0 }
    }
  }
}

extension WireError {
  static let endlessBody = WireError(
    .quotaExceeded, "Content-Length is more than any body may have; split the request")

  /// The answer to bytes that the parser does not accept as HTTP.
  init(_ error: HTTPParserError) {
    switch error {
    case .headerOverflow:
      self.init(
        .badRequest, "the header fields are too many or too long",
        status: .requestHeaderFieldsTooLarge)
    case .invalidVersion:
      self.init(
        .badRequest, "the HTTP version is not supported, or a line ends without CR; speak HTTP/1.1",
        status: .httpVersionNotSupported)
    default: self.init(.badRequest, "this is no HTTP/1.1 request")
    }
  }
}

extension ConnectionStateMachine.Failure {
  init(_ error: any Error) {
    switch error {
    case HTTPParserError.invalidEOFState: self = .cutOff
    case is ByteToMessageDecoderError: self = .undecoded
    case is RequestDecoder.EndlessBody: self = .invalid(.endlessBody)
    case let error as HTTPParserError: self = .invalid(WireError(error))
    default: self = .broken
    }
  }
}
