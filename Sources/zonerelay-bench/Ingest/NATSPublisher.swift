import NIOCore

/// The part of a NATS client that the measurement needs: makes a file stream, publishes messages
/// into it with 512 unacknowledged at a time, and counts the acknowledgements.
///
/// `@unchecked Sendable`: the object is made for one channel and used on its event loop only.
final class NATSPublisher: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let count: Int
  private let finished: EventLoopPromise<Void>
  private let message: ByteBuffer
  private var input = ByteBuffer()
  private var state = State.greeting
  private var isFinished = false
  static let underWay = 512

  private enum State {
    /// The client waits for the server's INFO.
    case greeting
    /// The client waits until the server has made the stream.
    case preparing
    case publishing(sent: Int, acknowledged: Int)
  }

  init(count: Int, finished: EventLoopPromise<Void>) {
    self.count = count
    self.finished = finished
    let value = String(repeating: "v", count: 200)
    message = ByteBuffer(string: "PUB bench.events _INBOX.bench.ack \(value.count)\r\n\(value)\r\n")
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    input.writeBuffer(&bytes)
    do {
      while let line = try readLine() { try take(line, context) }
    } catch {
      finish(.failure(error), context)
    }
    input.discardReadBytes()
  }

  func channelReadComplete(context: ChannelHandlerContext) { context.flush() }

  func channelInactive(context: ChannelHandlerContext) {
    finish(
      .failure(BenchError("nats-server closed the connection, or took more than 120 s")), context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(.failure(error), context)
  }

  private enum Input {
    case info
    case ping
    case message(ByteBuffer)
    case other
  }

  /// The server's next protocol message; nil if the message is not complete yet.
  private func readLine() throws -> Input? {
    guard let end = input.readableBytesView.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
    let length = end - input.readerIndex + 1
    guard let line = input.getString(at: input.readerIndex, length: length) else { return nil }
    if line.hasPrefix("MSG ") {
      // The line's form is: MSG subject sid length.
      let words = line.split(whereSeparator: \.isWhitespace)
      guard let size = words.last.flatMap({ Int($0) }) else {
        throw BenchError("NATS said \(line)")
      }
      guard input.readableBytes >= length + size + 2 else { return nil }
      input.moveReaderIndex(forwardBy: length)
      let body = input.readSlice(length: size) ?? ByteBuffer()
      input.moveReaderIndex(forwardBy: 2)
      return .message(body)
    }
    input.moveReaderIndex(forwardBy: length)
    if line.hasPrefix("-ERR") { throw BenchError("NATS refused: \(line)") }
    if line.hasPrefix("INFO") { return .info }
    return line.hasPrefix("PING") ? .ping : .other
  }

  private func take(_ input: Input, _ context: ChannelHandlerContext) throws {
    switch (input, state) {
    case (.info, .greeting):
      state = .preparing
      let stream =
        #"{"name":"BENCH","subjects":["bench.>"],"storage":"file","retention":"limits","#
        + #""discard":"old","max_consumers":-1,"max_msgs":-1,"max_bytes":-1,"num_replicas":1}"#
      write(
        #"CONNECT {"verbose":false,"pedantic":false,"lang":"swift","version":"1"}"# + "\r\n"
          + "SUB _INBOX.bench.* 1\r\n"
          + "PUB $JS.API.STREAM.CREATE.BENCH _INBOX.bench.made \(stream.utf8.count)\r\n"
          + "\(stream)\r\n", context)
    case (.ping, _): write("PONG\r\n", context)
    case (.message(let body), .preparing):
      guard Self.isGood(body) else { throw BenchError("no stream: \(String(buffer: body))") }
      state = .publishing(sent: 0, acknowledged: 0)
      for _ in 0..<min(Self.underWay, count) { publish(context) }
    case (.message(let body), .publishing(let sent, let acknowledged)):
      guard Self.isGood(body) else { throw BenchError("not stored: \(String(buffer: body))") }
      state = .publishing(sent: sent, acknowledged: acknowledged + 1)
      if sent < count { publish(context) }
      if acknowledged + 1 == count { finish(.success(()), context) }
    case (.info, _), (.other, _), (.message, .greeting): break
    }
  }

  private func publish(_ context: ChannelHandlerContext) {
    guard case .publishing(let sent, let acknowledged) = state else { return }
    state = .publishing(sent: sent + 1, acknowledged: acknowledged)
    context.write(wrapOutboundOut(message), promise: nil)
  }

  private func write(_ text: String, _ context: ChannelHandlerContext) {
    context.write(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
  }

  /// True for an acknowledgement, false for an error.
  private static func isGood(_ body: ByteBuffer) -> Bool {
    body.withUnsafeReadableBytes { $0.end(of: #""error""#, from: 0) == nil }
  }

  private func finish(_ result: Result<Void, any Error>, _ context: ChannelHandlerContext) {
    guard !isFinished else { return }
    isFinished = true
    finished.completeWith(result)
    context.close(promise: nil)
  }
}
