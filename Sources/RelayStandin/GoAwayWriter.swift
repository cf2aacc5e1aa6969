import NIOCore
import NIOHTTP2

/// Writes GOAWAY below NIO's HTTP/2 handler, between two of its frames.
///
/// NIO's own way makes it forget the streams above the last one at once; a DATA frame of theirs
/// that is still on its way then counts as an error of the connection, and the streams that a
/// GOAWAY promises to answer die with it. Here they stay known and simply get no answer.
final class GoAwayWriter: ChannelOutboundHandler {
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var context: ChannelHandlerContext?

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }
  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Must not be called while a frame is being written, that is, only in a turn of its own.
  func send(last: HTTP2StreamID, reason: String) {
    guard let context else { return }
    context.writeAndFlush(wrapOutboundOut(Self.frame(last: last, reason: reason)), promise: nil)
  }

  /// RFC 9113, section 6.8.
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
