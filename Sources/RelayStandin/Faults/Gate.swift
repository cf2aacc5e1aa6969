import Foundation
import NIOCore

/// A handler between the socket and TLS that acts like a broken network: it holds back received or
/// sent bytes, or ends the connection without notice.
///
/// The handler is confined to the event loop of its channel.
final class Gate: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private var context: ChannelHandlerContext?
  private var faults: Faults
  private var isHandshakeHeld: Bool
  private var wantsRead = false
  private var wantsFlush = false
  private var arrived: [NIOAny] = []
  private var held: [(data: NIOAny, promise: EventLoopPromise<Void>?)] = []

  init(_ faults: Faults) {
    self.faults = faults
    isHandshakeHeld = faults.handshake != nil
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if let delay = faults.handshake {
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(delay)) {
        self.isHandshakeHeld = false
        self.pass()
      }
    }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    dropHeld()
  }

  func channelActive(context: ChannelHandlerContext) {
    if faults.refuses { reset() }
    context.fireChannelActive()
  }

  /// Applies new faults, and forwards the bytes that they no longer hold back.
  func heard(_ faults: Faults) {
    self.faults = faults
    // A handshake that an ended fault held back continues at once.
    if faults.handshake == nil { isHandshakeHeld = false }
    if faults.refuses { return reset() }
    pass()
  }

  /// Closes the connection with a TCP reset.
  func reset() {
    guard let context else { return }
    dropHeld()
    // On the event loop the option is set before `setSoLinger` returns. If the socket refuses the
    // option, the connection is closed without a reset.
    _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(
      linger(l_onoff: 1, l_linger: 0))
    context.close(promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // A read may have been under way when the fault began.
    guard !holdsReads else { return arrived.append(data) }
    context.fireChannelRead(data)
  }

  func read(context: ChannelHandlerContext) {
    guard !holdsReads else {
      wantsRead = true
      return
    }
    context.read()
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard holdsWrites else { return context.write(data, promise: promise) }
    held.append((data, promise))
  }

  func flush(context: ChannelHandlerContext) {
    guard holdsWrites else { return context.flush() }
    wantsFlush = true
  }

  private var holdsReads: Bool { faults.isBlackhole || isHandshakeHeld }
  private var holdsWrites: Bool { faults.isBlackhole || faults.isSilent }

  /// Forwards the bytes that the current faults no longer hold back.
  private func pass() {
    guard let context else { return }
    if !holdsWrites, !held.isEmpty || wantsFlush {
      for (data, promise) in held { context.write(data, promise: promise) }
      held = []
      wantsFlush = false
      context.flush()
    }
    if !holdsReads, !arrived.isEmpty {
      for data in arrived { context.fireChannelRead(data) }
      arrived = []
      context.fireChannelReadComplete()
    }
    if !holdsReads, wantsRead {
      wantsRead = false
      context.read()
    }
  }

  private func dropHeld() {
    for (_, promise) in held { promise?.fail(ChannelError.ioOnClosedChannel) }
    held = []
  }
}
