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
          try channel.pipeline.syncOperations.addHandler(
            FakeHTTPStream { Self.answer($0, board, lacks) })
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

  func close() async {
    // Errors are ignored: the listener may be closed already, and the file may be gone.
    _ = try? await listener.close().get()
    unlink(path)
  }

  private static func answer(
    _ request: PushRequest, _ board: FaultBoard, _ lacks: Set<String>
  ) -> FakeAnswer {
    guard request.path == "/faults" else { return text(404, "ask for /faults") }
    switch request.method {
    case "GET": break
    case "PUT", "POST":
      do {
        let faults = try Faults(String(decoding: request.body, as: UTF8.self))
        for name in faults.names where lacks.contains(name) {
          return text(400, "this stand-in has no \(name); leave it out")
        }
        board.change(faults)
      } catch {
        return text(400, "\(error)")
      }
    case "DELETE": board.change(Faults())
    default: return text(405, "use GET, PUT or DELETE")
    }
    return text(200, board.faults.text)
  }

  private static func text(_ status: Int, _ line: String) -> FakeAnswer {
    FakeAnswer(status: status, headers: [("content-type", "text/plain")], body: line + "\n")
  }
}
