import NIOCore

/// Sits next to the socket of a courier's connection: knows when all that was written has left, and
/// when the other side is gone. Confined to its event loop.
final class CourierWatch: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = IOData
  typealias OutboundOut = IOData

  private var underWay = 0
  private var hasWritten = false
  private var onWritten: (() -> Void)?
  private var onGone: (() -> Void)?

  /// From now on `gone` is called when the other side ends, whoever was watched for before.
  static func watch(_ channel: any Channel, gone: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      guard channel.isActive else { return gone() }
      let pipeline = channel.pipeline.syncOperations
      do {
        // None is there at a connection's first poll.
        if let watch = try? pipeline.handler(type: CourierWatch.self) {
          watch.onGone = gone
        } else {
          let watch = CourierWatch()
          watch.onGone = gone
          try pipeline.addHandler(watch, position: .first)
        }
      } catch {
        gone()
      }
    }
  }

  /// Said before an answer is written: calls back once all of it has left; never if the connection
  /// ends first.
  static func expect(on channel: any Channel, written done: @escaping @Sendable () -> Void) {
    channel.eventLoop.execute {
      // Without a watch the connection has ended, and was reported.
      guard let watch = try? channel.pipeline.syncOperations.handler(type: CourierWatch.self)
      else { return }
      watch.hasWritten = false
      watch.onWritten = done
    }
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    let promise = promise ?? context.eventLoop.makePromise()
    underWay += 1
    hasWritten = true
    promise.futureResult.assumeIsolated().whenComplete { result in
      self.underWay -= 1
      guard self.underWay == 0, self.hasWritten, case .success = result,
        let done = self.onWritten
      else { return }
      self.onWritten = nil
      done()
    }
    context.write(data, promise: promise)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { end() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    end()
    context.fireChannelInactive()
  }

  private func end() {
    onWritten = nil
    let gone = onGone
    onGone = nil
    gone?()
  }
}
