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
  private let board: FaultBoard
  private let channel: any Channel
  private let goAway: GoAwayWriter
  private var context: ChannelHandlerContext?
  private var maxStreams: Int
  /// The streams that are being served, and the highest one accepted so far.
  private var served: Set<HTTP2StreamID> = []
  private var last = HTTP2StreamID.rootStream
  /// True if GOAWAY was sent or is about to be sent: no new stream is accepted, and the connection
  /// ends when the last served stream has ended.
  private var isLeaving = false

  init(
    number: Int, apns: FakeAPNs, board: FaultBoard, channel: any Channel, goAway: GoAwayWriter
  ) {
    self.number = number
    maxStreams = apns.maxStreams(under: board.faults)
    (self.apns, self.board, self.channel, self.goAway) = (apns, board, channel, goAway)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// The client's certificate; nil if the client presented none.
  private(set) lazy var certificate: PresentedCertificate? = {
    // The call fails on a connection without TLS, which has no certificate.
    let shown = try? channel.pipeline.syncOperations.nioSSL_peerCertificate()
    return shown.map { apns.look(at: $0) }
  }()

  /// Registers a request that begins. Returns false if the connection is closing and the request
  /// is not served.
  func began(_ stream: HTTP2StreamID) -> Bool {
    guard !isLeaving else { return false }
    isLeaving = apns.requestBegan(under: board.faults)
    if isLeaving {
      // Send GOAWAY in a later turn of the loop, when no frame is half written.
      channel.eventLoop.assumeIsolated().execute { self.leave() }
      return false
    }
    served.insert(stream)
    last = max(last, stream)
    return true
  }

  /// Registers that a stream was answered, reset, or given up by the client.
  func ended(_ stream: HTTP2StreamID) {
    served.remove(stream)
    closeIfDone()
  }

  /// Applies new faults to the connection.
  func heard(_ faults: Faults) {
    if faults.saysGoodbye, !isLeaving {
      isLeaving = true
      leave()
    }
    guard apns.maxStreams(under: faults) != maxStreams, let context else { return }
    maxStreams = apns.maxStreams(under: faults)
    let setting = HTTP2Setting(parameter: .maxConcurrentStreams, value: maxStreams)
    let frame = HTTP2Frame(streamID: .rootStream, payload: .settings(.settings([setting])))
    context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
  }

  /// Sends GOAWAY as Apple does: the stand-in did not process the streams above `last`, and the
  /// sender may repeat their requests on another connection.
  private func leave() {
    goAway.send(last: last, reason: "{\"reason\":\"Shutdown\"}")
    closeIfDone()
  }

  private func closeIfDone() {
    guard isLeaving, served.isEmpty else { return }
    // Close in a later turn: a stream counts as ended before its last frames are flushed.
    channel.eventLoop.execute { [channel] in channel.close(promise: nil) }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client broke the protocol, TLS or the connection, so no answer can be sent.
    context.close(promise: nil)
  }
}
