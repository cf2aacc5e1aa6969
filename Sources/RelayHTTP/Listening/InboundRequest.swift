import HTTPTypes
import Hummingbird
import NIOCore

/// A request for the responder, and the connection on which the answer is written.
struct InboundRequest: Sendable {
  let request: Request
  let connection: HTTPConnection
  /// Distinguishes the request from all other requests of the same connection.
  let serial: UInt32
  /// If this is set, the responder is not called, and this refusal is the answer.
  var refusal: WireError?
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

/// A body that did not arrive with its head. The body is read from the network only as fast as the
/// responder takes it.
struct LateBody: AsyncSequence, Sendable {
  let first: ByteBuffer?
  let connection: HTTPConnection
  let serial: UInt32

  struct Iterator: AsyncIteratorProtocol {
    var first: ByteBuffer?
    let connection: HTTPConnection
    let serial: UInt32

    mutating func next() async throws -> ByteBuffer? {
      if let first = first.take() { return first }
      return try await connection.nextPart(of: serial)
    }
  }

  func makeAsyncIterator() -> Iterator {
    Iterator(first: first, connection: connection, serial: serial)
  }
}
