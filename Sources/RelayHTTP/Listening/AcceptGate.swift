import NIOCore

/// Accepts no faster than the serving loops take connections over. What they have not taken over
/// is counted nowhere else; it waits in the kernel's queue, which is bounded.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  /// Connections that were accepted and not taken over; with more, the next ones wait.
  static let waitingMax = 256

  private var waiting = 0
  private var isWithheld = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let connection = unwrapInboundIn(data)
    waiting += 1
    let own = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
    context.fireChannelRead(data)
    // What the serving loop does for it comes before this.
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
