import Foundation
import NIOCore
import NIOHTTP2
import NIOPosix
import NIOSSL

/// A server for HTTP/2 and HTTP/1.1 over TLS on loopback, which hands each request to a provider.
/// The server listens from its initialiser on; every request is written to `pushes.jsonl` before it
/// is answered.
struct FakeHTTPServer: Sendable {
  let port: Int
  private let open: OpenChannels
  private let control: FaultControl?

  /// - Parameter control: the path of a Unix socket where faults are changed; nil means no socket.
  init(
    host: String, port: Int, files: StandinFiles, provider: any FakeProvider, control: String?
  ) async throws(StandinError) {
    let log = try PushLog(path: files.pushes)
    let tls = try APNsStandin.tls(files, protocols: ["h2", "http/1.1"])
    let open = OpenChannels()
    // All connections share one event loop, so requests are judged and logged in one order.
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let board = FaultBoard(loop: loop)
    self.port = try await open.listen(host: host, port: port, on: loop) { channel in
      open.insert(channel)
      let gate = NIOLoopBound(Gate(board.faults), eventLoop: channel.eventLoop)
      board.tell(channel) { gate.value.heard($0) }
      return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandlers(
          gate.value, NIOSSLServerHandler(context: tls))
      }.flatMap {
        // With both protocols the stream's handler receives HTTP/1.1 messages.
        channel.configureCommonHTTPServerPipeline { stream in
          stream.eventLoop.makeCompletedFuture {
            try stream.pipeline.syncOperations.addHandler(
              FakeHTTPStream(provider: provider, log: log, board: board, gate: gate.value) {
                open.fail($0)
              })
          }
        }
      }
    }
    self.open = open
    self.control = try await FaultControl.open(
      control, board: board, loop: loop, lacks: ["goaway", "streams"])
  }

  /// Serves until the task is cancelled, then closes every connection.
  ///
  /// - Throws: ``StandinError`` if the log of requests can no longer be written.
  func run() async throws(StandinError) { try await open.serve(with: control) }
}
