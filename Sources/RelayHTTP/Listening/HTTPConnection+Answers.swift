import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1

extension HTTPConnection {
  /// What is written of an answer in one go.
  struct Piece: Sendable {
    var head: HTTPResponse?
    var body: [ByteBuffer] = []
    var isLast = true
  }

  /// Writes a piece of an answer. Nothing is written if the request is held, or was answered.
  ///
  /// - Returns: once it has left for the network.
  func send(_ piece: Piece, for serial: UInt32) async throws {
    let promise = channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute {
      self.write(piece, for: serial, isHolder: false, promise)
    }
    try await promise.futureResult.get()
  }

  func write(
    _ piece: Piece, for serial: UInt32, isHolder: Bool, _ promise: EventLoopPromise<Void>
  ) {
    guard let context, channel.isActive else { return promise.fail(ChannelError.ioOnClosedChannel) }
    guard let current = underWay, current.serial == serial, !current.isAnswered,
      current.isHeld == isHolder
    else { return isHolder ? promise.fail(ChannelError.eof) : promise.succeed() }
    if let head = piece.head {
      context.write(
        wrapOutboundOut(.head(HTTPResponseHead(head, isLast: isClosing))), promise: nil)
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

  private var isClosing: Bool { isEnding || underWay?.isClosing == true }

  /// A request that is answered makes room for the next, once what was not read of it is.
  func settle() {
    guard let current = underWay, current.isAnswered else { return }
    if isClosing || isInputClosed { leave() }
    guard current.isRead else { return advance() }
    guard !isLeaving else { return }
    underWay = nil
    restartIdleness()
    advance()
  }
}

/// What an answer's body is written with. One whose length is known leaves with its head.
struct AnswerWriter: ResponseBodyWriter {
  let asked: Asked
  let isWhole: Bool
  private var piece: HTTPConnection.Piece

  init(_ asked: Asked, head: HTTPResponse, isWhole: Bool) {
    self.asked = asked
    self.isWhole = isWhole
    piece = HTTPConnection.Piece(head: head)
  }

  mutating func write(_ buffer: ByteBuffer) async throws {
    piece.body.append(buffer)
    guard !isWhole else { return }
    piece.isLast = false
    try await asked.connection.send(piece, for: asked.serial)
    piece = HTTPConnection.Piece()
  }

  consuming func finish(_ trailers: HTTPFields?) async throws {
    piece.isLast = true
    try await asked.connection.send(piece, for: asked.serial)
  }
}

extension HTTPResponseHead {
  fileprivate init(_ head: HTTPResponse, isLast: Bool) {
    var headers = HTTPHeaders()
    headers.reserveCapacity(head.headerFields.count + 1)
    for field in head.headerFields { headers.add(name: field.name.rawName, value: field.value) }
    if isLast, head.status.code >= 200 { headers.add(name: "Connection", value: "close") }
    self.init(
      version: .http1_1, status: HTTPResponseStatus(statusCode: head.status.code),
      headers: headers)
  }
}
