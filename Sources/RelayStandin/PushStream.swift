import Foundation
import NIOCore
import NIOHPACK
import NIOHTTP2

/// One HTTP/2 stream: gathers the request, lets the provider judge it, and answers.
final class PushStream: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let connection: FakeConnection
  private let apns: FakeAPNs
  private let failed: (any Error) -> Void
  private var state = State.waiting

  private enum State {
    /// Nothing has been received yet.
    case waiting
    /// The body is being received.
    case reading(HTTP2StreamID, PushRequest)
    /// The request is complete; its answer comes later or never.
    case judged(HTTP2StreamID)
    /// The stream is not served, or it has ended.
    case done
  }

  init(connection: FakeConnection, apns: FakeAPNs, failed: @escaping (any Error) -> Void) {
    self.connection = connection
    self.apns = apns
    self.failed = failed
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let headers): read(headers, context)
    case .data(let data): read(data, context)
    default: break
    }
  }

  func channelInactive(context: ChannelHandlerContext) {
    switch state {
    case .reading(let stream, _), .judged(let stream): connection.ended(stream)
    case .waiting, .done: break
    }
    state = .done
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client reset the stream. `channelInactive` follows and cleans up.
    context.close(promise: nil)
  }

  private func read(_ headers: HTTP2Frame.FramePayload.Headers, _ context: ChannelHandlerContext) {
    guard case .waiting = state else { return }
    let stream: HTTP2StreamID
    do {
      guard let id = try context.channel.syncOptions?.getOption(HTTP2StreamChannelOptions.streamID)
      else { return failed(ChannelError.operationUnsupported) }
      stream = id
    } catch {
      return failed(error)
    }
    guard connection.began(stream) else {
      state = .done
      return
    }
    var request = PushRequest(connection: connection.number, headers: headers.headers)
    request.certificate = connection.certificate
    state = .reading(stream, request)
    if headers.endStream { judge(context) }
  }

  private func read(_ data: HTTP2Frame.FramePayload.Data, _ context: ChannelHandlerContext) {
    guard case .reading(let stream, var request) = state else {
      state = .done
      return
    }
    if case .byteBuffer(let bytes) = data.data {
      request.bodyBytes += bytes.readableBytes
      let room = PushRequest.bodyBytesKept - request.body.count
      request.body.append(contentsOf: bytes.readableBytesView.prefix(room))
    }
    state = .reading(stream, request)
    if data.endStream { judge(context) }
  }

  private func judge(_ context: ChannelHandlerContext) {
    guard case .reading(let stream, let request) = state else { return }
    state = .judged(stream)
    do {
      let answer = try apns.answer(request)
      perform(answer, id: request.header("apns-id"), context)
    } catch {
      failed(error)
    }
  }

  private func perform(_ answer: PushAnswer, id: String?, _ context: ChannelHandlerContext) {
    switch answer {
    case .accepted, .refused:
      send(answer, id: id, context)
    case .late(let milliseconds):
      context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(milliseconds)) {
        // Meanwhile the client may have given up the stream, or the stand-in may have stopped.
        guard case .judged = self.state, context.channel.isActive else { return }
        self.send(answer, id: id, context)
      }
    case .silence:
      break
    case .reset:
      context.writeAndFlush(wrapOutboundOut(.rstStream(.internalError)), promise: nil)
    case .hangUp:
      connection.hangUp()
    }
  }

  private func send(_ answer: PushAnswer, id: String?, _ context: ChannelHandlerContext) {
    var headers = HPACKHeaders([(":status", "\(answer.status)")])
    headers.add(name: "apns-id", value: id ?? UUID().uuidString.lowercased())
    if case .refused(_, _, let retryAfter?) = answer {
      headers.add(name: "retry-after", value: "\(retryAfter)")
    }
    let body = answer.body
    if !body.isEmpty { headers.add(name: "content-type", value: "application/json") }
    let head = HTTP2Frame.FramePayload.Headers(headers: headers, endStream: body.isEmpty)
    context.write(wrapOutboundOut(.headers(head)), promise: nil)
    if !body.isEmpty {
      let data = HTTP2Frame.FramePayload.Data(
        data: .byteBuffer(ByteBuffer(string: body)), endStream: true)
      context.write(wrapOutboundOut(.data(data)), promise: nil)
    }
    context.flush()
  }
}

extension PushRequest {
  /// A request whose body has not been received yet.
  init(connection: Int, headers: HPACKHeaders) {
    self.init(
      connection: connection, method: headers.first(name: ":method") ?? "",
      path: headers.first(name: ":path") ?? "",
      headers: headers.filter { !$0.name.hasPrefix(":") }.map { ($0.name, $0.value) },
      body: Data(), bodyBytes: 0)
  }
}
