import NIOCore
import NIOHTTP2

/// Writes GOAWAY below NIO's HTTP/2 handler, between two of that handler's frames.
///
/// A GOAWAY names the last stream that is answered. If NIO itself sends the GOAWAY, NIO drops all
/// higher streams at once. A DATA frame of a dropped stream that is still on its way is then a
/// connection error, which ends the streams that the GOAWAY promises to answer. With this writer
/// NIO keeps the higher streams, and the stand-in does not answer them.
final class GoAwayWriter: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Writes a GOAWAY. The caller must be in an event-loop turn of its own, so that the GOAWAY does
  /// not come into the middle of another frame.
  func send(last: HTTP2StreamID, reason: String) {
    guard let context else { return }
    context.writeAndFlush(wrapOutboundOut(Self.frame(last: last, reason: reason)), promise: nil)
  }

  /// The GOAWAY frame of RFC 9113, section 6.8.
  private static func frame(last: HTTP2StreamID, reason: String) -> ByteBuffer {
    let length = 8 + reason.utf8.count
    var frame = ByteBuffer()
    frame.writeInteger(UInt8(truncatingIfNeeded: length >> 16))
    frame.writeInteger(UInt16(truncatingIfNeeded: length))
    frame.writeInteger(UInt8(7))
    frame.writeInteger(UInt8(0))
    frame.writeInteger(UInt32(0))
    frame.writeInteger(UInt32(Int(last)))
    frame.writeInteger(UInt32(0))
    frame.writeString(reason)
    return frame
  }
}
