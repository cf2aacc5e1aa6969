import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP server on a Unix socket that changes the faults of a running stand-in.
///
/// `GET /faults` shows the faults, `PUT` (or POST) replaces them by those of the body, `DELETE`
/// removes all of them. When the answer arrives, the new faults apply to all connections.
struct FaultControl: Sendable {
  private let path: String
  private let listener: any Channel

  /// Listens on a socket that only the process's user may open. An old socket at the path is
  /// replaced.
  ///
  /// - Parameter lacks: faults that this stand-in does not support.
  init(
    path: String, board: FaultBoard, loop: any EventLoop, lacks: Set<String>
  ) async throws(StandinError) {
    self.path = path
    let bootstrap = ServerBootstrap(group: loop)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.configureHTTPServerPipeline()
          try channel.pipeline.syncOperations.addHandler(FaultHandler(board: board, lacks: lacks))
        }
      }
    let descriptor = try FaultSocket.bind(path)
    do {
      listener = try await bootstrap.withBoundSocket(descriptor).get()
    } catch {
      unlink(path)
      throw FaultSocket.failure(path, "\(error)")
    }
  }

  static func open(
    _ path: String?, board: FaultBoard, loop: any EventLoop, lacks: Set<String> = []
  ) async throws(StandinError) -> FaultControl? {
    guard let path else { return nil }
    return try await FaultControl(path: path, board: board, loop: loop, lacks: lacks)
  }

  func close() async {
    // Errors are ignored: the listener may be closed already, and the file may be gone.
    _ = try? await listener.close().get()
    unlink(path)
  }
}

/// Answers the requests of one connection, which an operator or a test has opened.
private final class FaultHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias OutboundOut = HTTPServerResponsePart

  private let board: FaultBoard
  private let lacks: Set<String>
  private var head: HTTPRequestHead?
  private var body = ByteBuffer()

  init(board: FaultBoard, lacks: Set<String>) {
    self.board = board
    self.lacks = lacks
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head(let head): (self.head, body) = (head, ByteBuffer())
    case .body(var bytes): if body.readableBytes < 65_536 { body.writeBuffer(&bytes) }
    case .end:
      guard let head = head.take() else { return }
      let (status, text) = answer(head)
      send(status, text + "\n", context)
    }
  }

  private func answer(_ head: HTTPRequestHead) -> (HTTPResponseStatus, String) {
    guard head.uri == "/faults" else { return (.notFound, "ask for /faults") }
    switch head.method {
    case .GET: break
    case .PUT, .POST:
      do {
        let faults = try Faults(String(buffer: body))
        for name in faults.names where lacks.contains(name) {
          return (.badRequest, "this stand-in has no \(name); leave it out")
        }
        board.change(faults)
      } catch {
        return (.badRequest, "\(error)")
      }
    case .DELETE: board.change(Faults())
    default: return (.methodNotAllowed, "use GET, PUT or DELETE")
    }
    return (.ok, board.faults.text)
  }

  private func send(
    _ status: HTTPResponseStatus, _ text: String, _ context: ChannelHandlerContext
  ) {
    let headers = HTTPHeaders([
      ("content-type", "text/plain"), ("content-length", "\(text.utf8.count)"),
    ])
    let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: text)))), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The client broke HTTP or the connection, so no answer can be sent.
    context.close(promise: nil)
  }
}
