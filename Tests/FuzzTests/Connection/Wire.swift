import NIOCore

/// Stands in for a connection's socket: it shows when the connection asks for bytes, and keeps
/// writes unfinished until the client reads.
final class Wire: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  /// The connection asked for bytes, and got none yet.
  private(set) var isReadWanted = false
  /// The first bytes that were written.
  private(set) var said: [UInt8] = []
  private var unread: [EventLoopPromise<Void>?] = []
  private var isRead = true
  private var isEnded = false
  private static let saidMax = 64

  func read(context: ChannelHandlerContext) { isReadWanted = true }

  func write(
    context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
  ) {
    guard !isEnded else {
      promise?.fail(ChannelError.outputClosed)
      return
    }
    if case .byteBuffer(let bytes) = unwrapOutboundIn(data) {
      said += bytes.readableBytesView.prefix(max(0, Self.saidMax - said.count))
    }
    unread.append(promise)
  }

  func flush(context: ChannelHandlerContext) {
    if isRead { readAll() }
  }

  func close(
    context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?
  ) {
    switch mode {
    case .output:
      isEnded = true
      promise?.succeed()
    case .input: promise?.fail(ChannelError.operationUnsupported)
    case .all:
      let lost = unread
      unread = []
      for written in lost { written?.fail(ChannelError.ioOnClosedChannel) }
      context.close(mode: .all, promise: promise)
    }
  }

  /// Delivers bytes as one read of the socket.
  func deliver(_ bytes: ByteBuffer, on channel: any Channel) {
    isReadWanted = false
    channel.pipeline.fireChannelRead(bytes)
    channel.pipeline.fireChannelReadComplete()
    if channel.isActive { channel.read() }
  }

  /// Makes the client stop reading, or continue.
  func setRead(_ isRead: Bool) {
    self.isRead = isRead
    if isRead { readAll() }
  }

  private func readAll() {
    let read = unread
    unread = []
    for written in read { written?.succeed() }
  }
}
