import HTTPTypes
import Hummingbird
import NIOCore

/// A request for the responder, and the connection on which the answer is written.
struct InboundRequest: Sendable {
  /// The request; or the answer to bytes that the responder must not see.
  let content: Result<Request, WireError>
  let connection: HTTPConnection
  /// Distinguishes the request from all other requests of the same connection.
  let serial: UInt32
}

/// Writes an answer. If the length of the body is known, head and body are written together.
struct AnswerWriter: ResponseBodyWriter {
  let asked: InboundRequest
  let isWhole: Bool
  private var part: HTTPConnection.ResponsePart

  init(_ asked: InboundRequest, head: HTTPResponse, isWhole: Bool) {
    self.asked = asked
    self.isWhole = isWhole
    part = HTTPConnection.ResponsePart(head: head)
  }

  mutating func write(_ buffer: ByteBuffer) async throws {
    part.body.append(buffer)
    guard !isWhole else { return }
    part.isLast = false
    try await asked.connection.send(part, for: asked.serial)
    part = HTTPConnection.ResponsePart()
  }

  consuming func finish(_ trailers: HTTPFields?) async throws {
    part.isLast = true
    try await asked.connection.send(part, for: asked.serial)
  }
}
