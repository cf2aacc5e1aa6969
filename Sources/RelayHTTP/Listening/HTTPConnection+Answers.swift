import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

extension HTTPConnection {
  /// The part of an answer that is written in one go.
  struct ResponsePart: Sendable {
    var head: HTTPResponse?
    var body: [ByteBuffer] = []
    var isLast = true
  }

  /// Writes a piece of an answer. Writes nothing if the request is held, or was answered.
  ///
  /// - Returns: once the piece has left for the network.
  func send(_ piece: ResponsePart, for serial: UInt32) async throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute {
      self.write(piece, for: serial, isHolder: false, promise)
    }
    try await promise.futureResult.get()
  }

  func write(
    _ piece: ResponsePart, for serial: UInt32, isHolder: Bool, _ promise: EventLoopPromise<Void>
  ) {
    guard let context, channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
    guard let current = underWay, current.serial == serial, !current.isAnswered,
      current.isHeld == isHolder
    else { return isHolder ? promise.fail(ChannelError.eof) : promise.succeed() }
    if let head = piece.head {
      // HTTP/1.0 has no interim answers.
      guard !current.isOfHTTP10 || head.status.kind != .informational else {
        return promise.succeed()
      }
      let head = HTTPResponseHead(head, isLast: isClosing, isOfHTTP10: current.isOfHTTP10)
      context.write(wrapOutboundOut(.head(head)), promise: nil)
    }
    let body = current.isBodiless ? [] : piece.body
    var parts = body.map { HTTPServerResponsePart.body(.byteBuffer($0)) }
    if piece.isLast { parts.append(.end(nil)) }
    guard let end = parts.popLast() else {
      context.flush()
      return promise.succeed()
    }
    for part in parts { context.write(wrapOutboundOut(part), promise: nil) }
    if piece.isLast {
      unsent += 1
      promise.futureResult.whenComplete { _ in self.hasLeft() }
    }
    context.writeAndFlush(wrapOutboundOut(end), promise: promise)
    guard piece.isLast, underWay?.serial == serial else { return }
    underWay?.isAnswered = true
    underWay?.onGone = nil
    settle()
  }

  private var isClosing: Bool {
    isEnding || underWay?.isClosing == true || isInputClosed && !isAnyWaiting
  }

  /// Ends an answered request once all of it has been read, so that the next one can begin.
  func settle() {
    guard let current = underWay, current.isAnswered else { return }
    if isClosing { leave() }
    guard current.isRead else { return advance() }
    guard !isLeaving else { return }
    underWay = nil
    restartIdleness()
    advance()
  }
}

/// Writes the body of an answer. A body of known length leaves together with its head.
struct AnswerWriter: ResponseBodyWriter {
  let asked: InboundRequest
  let isWhole: Bool
  private var piece: HTTPConnection.ResponsePart

  init(_ asked: InboundRequest, head: HTTPResponse, isWhole: Bool) {
    self.asked = asked
    self.isWhole = isWhole
    piece = HTTPConnection.ResponsePart(head: head)
  }

  mutating func write(_ buffer: ByteBuffer) async throws {
    piece.body.append(buffer)
    guard !isWhole else { return }
    piece.isLast = false
    try await asked.connection.send(piece, for: asked.serial)
    piece = HTTPConnection.ResponsePart()
  }

  consuming func finish(_ trailers: HTTPFields?) async throws {
    piece.isLast = true
    try await asked.connection.send(piece, for: asked.serial)
  }
}

extension HTTPResponseHead {
  /// - Parameter isOfHTTP10: the request uses HTTP/1.0. An answer of unknown length then uses
  ///   HTTP/1.0 as well: its body is not sent in chunks and ends with the connection.
  fileprivate init(_ head: HTTPResponse, isLast: Bool, isOfHTTP10: Bool) {
    var headers = HTTPHeaders()
    headers.reserveCapacity(head.headerFields.count + 1)
    for field in head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
    if isLast, head.status.code >= 200 { headers.add(name: "Connection", value: "close") }
    self.init(
      version: isOfHTTP10 && !headers.contains(name: "content-length") ? .http1_0 : .http1_1,
      status: HTTPResponseStatus(statusCode: head.status.code),
      headers: headers)
  }
}
