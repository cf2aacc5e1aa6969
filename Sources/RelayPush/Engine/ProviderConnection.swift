import NIOCore
import NIOSSL
import NIOTLS

/// One TCP connection with TLS and an HTTP/2 session on top. The connection moves bytes and
/// reports to the engine what the peer did; the engine makes all decisions.
///
/// `@unchecked Sendable`: only the event loop of `PushEngine` uses a connection, but NIO's
/// `@Sendable` channel initialiser has to capture it.
final class ProviderConnection: ChannelInboundHandler, @unchecked Sendable {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let id: LinkID
  let session: Session
  /// An intended reference cycle: the engine releases the connection when the connection has ended.
  private let engine: PushEngine
  private var context: ChannelHandlerContext?
  private var buffer = ByteBuffer()
  private var state: State = .opening
  /// True if there may be frames to send.
  var isDirty = false

  private enum State { case opening, open, closing, closed }

  init(id: LinkID, session: Session, engine: PushEngine) {
    (self.id, self.session, self.engine) = (id, session, engine)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    if state == .closing { context.close(promise: nil) }
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? TLSUserEvent, case .handshakeCompleted(let chosen) = event {
      guard state == .opening else { return }
      guard chosen == "h2" else {
        fail("the peer does not speak HTTP/2: TLS agreed on \(chosen ?? "no protocol")")
        return
      }
      state = .open
      isDirty = true
      engine.opened(self)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard state == .open else { return }
    let bytes = unwrapInboundIn(data)
    do {
      try bytes.withUnsafeReadableBytes { (bytes) throws(SessionError) in
        try session.receive(bytes)
      }
      isDirty = true
      engine.heard(self)
    } catch {
      engine.heard(self)
      fail("\(error)")
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable, isDirty { engine.scheduleTurn() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    ended("the peer closed the connection")
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // A missing close_notify of TLS needs no report, because the close itself is reported.
    if let error = error as? NIOSSLError, case .uncleanShutdown = error { return }
    fail("\(error)")
  }

  /// Sends all ready frames, with one write.
  func flush(at now: Uptime) {
    guard isDirty, state == .open, let context, context.channel.isWritable else { return }
    isDirty = false
    write(context)
    engine.consume(self, at: now)
    // nghttp2 has sent an error code to the peer, and ends the session. If the session is over
    // because the peer sent GOAWAY and the last stream has ended, the engine has just closed the
    // connection.
    if state == .open, session.isOver { fail("the peer broke HTTP/2's rules") }
  }

  /// Sends GOAWAY and closes. From now on the connection reports to the engine only that it has
  /// ended.
  func close() {
    guard state == .opening || state == .open else { return }
    if state == .open, let context {
      session.goAway()
      write(context)
    }
    state = .closing
    context?.close(promise: nil)
  }

  /// The connection could not be opened, or has ended.
  func ended(_ reason: String) {
    guard state != .closed else { return }
    let isOurDoing = state == .closing
    state = .closed
    engine.closed(self, isOurDoing ? nil : reason)
  }

  private func write(_ context: ChannelHandlerContext) {
    buffer.clear()
    do {
      try session.drain(into: &buffer)
    } catch {
      fail("\(error)")
      return
    }
    guard buffer.readableBytes > 0 else { return }
    engine.counts.writes += 1
    let whole = session.takeWritten()
    guard !whole.isEmpty else {
      return context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
    let written = context.eventLoop.makePromise(of: Void.self)
    // A write that fails ends the connection and every request on it.
    written.futureResult.whenSuccess { [engine] in engine.written(whole) }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: written)
  }

  private func fail(_ reason: String) {
    guard state == .opening || state == .open else { return }
    state = .closing
    engine.failed(self, reason)
    context?.close(promise: nil)
  }
}
