import NIOCore

/// Accepts connections no faster than the serving loops take them over. Accepted ones that no loop
/// has taken over are counted nowhere else. Further ones wait in the kernel's queue, which is
/// bounded.
final class AcceptGate: ChannelDuplexHandler {
  typealias InboundIn = any Channel
  typealias InboundOut = any Channel
  typealias OutboundIn = Never

  /// How many connections may be accepted and not taken over; beyond, the next ones wait.
  static let waitingMax = 256

  private var waiting = 0
  private var isWithheld = false

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let connection = unwrapInboundIn(data)
    waiting += 1
    let own = NIOLoopBound((gate: self, context: context), eventLoop: context.eventLoop)
    context.fireChannelRead(data)
    // The serving loop runs this after its own work for the connection.
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
