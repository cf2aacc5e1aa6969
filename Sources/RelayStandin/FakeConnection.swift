import NIOCore
import NIOHTTP2
import NIOSSL

/// One HTTP/2 connection: decides which of its streams are served, and when the connection ends.
///
/// The connection is confined to the event loop of its channel.
final class FakeConnection: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame
  typealias OutboundOut = HTTP2Frame

  let number: Int
  private let apns: FakeAPNs
  private let channel: any Channel
  private let goAway: GoAwayWriter
  private let gate: Gate
  private var context: ChannelHandlerContext?
  private var maxStreams: Int
  private var state = State.open(served: [], last: .rootStream)

  private enum State {
    /// Streams that are being served, and the highest stream accepted so far. This state ends with
    /// a GOAWAY.
    case open(served: Set<HTTP2StreamID>, last: HTTP2StreamID)
    /// GOAWAY was sent or is about to be sent: no new stream is accepted. This state ends when the
    /// last served stream has ended.
    case leaving(served: Set<HTTP2StreamID>)
    case closed
  }

  init(
    number: Int, apns: FakeAPNs, channel: any Channel, goAway: GoAwayWriter, gate: Gate
  ) {
    self.number = number
    self.gate = gate
    maxStreams = apns.maxStreams
    self.apns = apns
    self.channel = channel
    self.goAway = goAway
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// The client's certificate; nil if the client presented none.
  private(set) lazy var certificate: PresentedCertificate? = {
    // A connection without TLS has no certificate either.
    let shown = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
    return shown.map { apns.look(at: $0) }
  }()

  /// Registers a request that begins. Returns false if the connection is closing and the request
  /// is not served.
  func began(_ stream: HTTP2StreamID) -> Bool {
    switch state {
    case .open(var served, let last):
      if apns.requestBegan() {
        state = .leaving(served: served)
        // Send GOAWAY in a later turn of the loop, when no frame is half written.
        channel.eventLoop.assumeIsolated().execute { self.leave(last: last) }
        return false
      }
      served.insert(stream)
      state = .open(served: served, last: max(last, stream))
      return true
    case .leaving(let served):
      state = .leaving(served: served)
      return false
    case .closed:
      state = .closed
      return false
    }
  }

  /// Registers that a stream was answered, reset, or given up by the client.
  func ended(_ stream: HTTP2StreamID) {
    switch state {
    case .open(var served, let last):
      served.remove(stream)
      state = .open(served: served, last: last)
    case .leaving(var served):
      served.remove(stream)
      state = .leaving(served: served)
      closeIfDone()
    case .closed:
      state = .closed
    }
  }

  /// Applies new faults to the connection.
  func heard(_ faults: Faults) {
    gate.heard(faults)
    if faults.saysGoodbye, case .open(let served, let last) = state {
      state = .leaving(served: served)
      leave(last: last)
    }
    guard apns.maxStreams != maxStreams, let context else { return }
    maxStreams = apns.maxStreams
    let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams)
    let frame = HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([setting])))
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }

  /// Ends the connection by a TCP reset.
  func hangUp() { gate.reset() }

  /// Sends GOAWAY as Apple does: the stand-in did not process the streams above `last`, and the
  /// sender may repeat their requests on another connection.
  private func leave(last: HTTP2StreamID) {
    goAway.send(last: last, reason: "{\"reason\":\"Shutdown\"}")
    closeIfDone()
  }

  private func closeIfDone() {
    guard case .leaving(let served) = state, served.isEmpty else { return }
    state = .closed
    // Close in a later turn: a stream counts as ended before its last frames are flushed.
    channel.eventLoop.execute { [channel] in channel.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client broke the protocol, TLS or the connection, so no answer can be sent.
    context.close(promise: nil)
  }
}
