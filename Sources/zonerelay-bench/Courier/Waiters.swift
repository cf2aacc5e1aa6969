import NIOCore

/// A device's connection to the courier.
class Waiter: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let request: ByteBuffer
  fileprivate unowned let crowd: CrowdPart
  private var context: ChannelHandlerContext?
  fileprivate var isTold = false

  fileprivate init(_ request: ByteBuffer, of crowd: CrowdPart) {
    (self.request, self.crowd) = (request, crowd)
  }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    send()
  }

  func channelInactive(context: ChannelHandlerContext) { context.fireChannelInactive() }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

  /// Starts to wait for the next change.
  func again() { isTold = false }

  fileprivate func send() { context?.writeAndFlush(wrapOutboundOut(request), promise: nil) }

  fileprivate func heard() {
    crowd.heard(isAgain: isTold)
    isTold = true
  }
}

/// One device's poll. After an empty answer the device polls again at once; after a wake, only
/// when `again` is called.
final class Poll: Waiter {
  private var scanner = AnswerScanner()

  init(_ path: String, of crowd: CrowdPart) { super.init(RequestText.get(path), of: crowd) }

  override func again() {
    super.again()
    send()
  }

  override func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    scanner.append(&bytes)
    do {
      while let answer = try scanner.next() {
        guard answer.status == 200 else {
          throw BenchError("a poll was answered \(answer.status): \(String(buffer: answer.body))")
        }
        if answer.body.readableBytes == 0 {
          if !isTold { again() }
        } else {
          heard()
        }
      }
    } catch {
      crowd.broke(error)
      context.close(promise: nil)
    }
  }
}

/// One device's event stream.
final class Stream: Waiter {
  private var buffer = ByteBuffer()
  private var isBegun = false

  init(_ path: String, of crowd: CrowdPart) {
    super.init(RequestText.get(path, accept: "text/event-stream"), of: crowd)
  }

  override func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    buffer.writeBuffer(&bytes)
    if !isBegun {
      guard buffer.readableBytesView.starts(with: "HTTP/1.1 200 ".utf8) else {
        crowd.broke(BenchError("a stream was answered: \(String(buffer: buffer).prefix(500))"))
        return context.close(promise: nil)
      }
      isBegun = true
    }
    // An empty line ends an event or a comment. The head's lines end with CR LF instead.
    while let end = buffer.withUnsafeReadableBytes({ $0.end(of: "\n\n", from: 0) }),
      let text = buffer.readSlice(length: end)
    {
      guard text.withUnsafeReadableBytes({ $0.end(of: "\ndata: ", from: 0) }) != nil else {
        continue
      }
      heard()
    }
    // The buffer is released while it is empty, as a device would do.
    if buffer.readableBytes == 0 { buffer = ByteBuffer() }
  }

  override func channelInactive(context: ChannelHandlerContext) {
    crowd.ended()
    context.fireChannelInactive()
  }
}
