import NIOCore

/// Accepts connections no faster than the serving event loops take them over. No other limit counts
/// connections that are accepted but not taken over yet. Further connections wait in the kernel's
/// queue, which is bounded.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  /// The most connections that may be accepted but not yet taken over by a serving event loop.
  static let waitingMax = 256

  private var waiting = 0
  private var isWithheld = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let connection = unwrapInboundIn(data)
    waiting += 1
    let own = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
    context.fireChannelRead(data)
    // The serving loop runs this task after it has taken the connection over.
    connection.eventLoop.execute {
      own.eventLoop.execute { own.value.gate.takenOver(own.value.context) }
    }
  }

  func read(context: ChannelHandlerContext) {
    if waiting < Self.waitingMax { context.read() } else { isWithheld = true }
  }

  private func takenOver(_ context: ChannelHandlerContext) {
    waiting -= 1
    guard isWithheld, waiting < Self.waitingMax else { return }
    isWithheld = false
    context.read()
  }
}
