import NIOCore
import NIOPosix

/// Many connections to one server on loopback, each with a caller of its own.
struct LoadExchange {
  private var lines: [LoadConnection] = []
  private let loop: any EventLoop

  /// Opens all connections without sending a request.
  init(_ callers: [any LoadCaller], to place: LoadTarget, group: MultiThreadedEventLoopGroup)
    async throws
  {
    loop = group.next()
    for caller in callers {
      let line = LoadConnection(caller, finished: loop.makePromise())
      let bootstrap = ClientBootstrap(group: loop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.maxMessagesPerRead, value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(line)
          }
        }
      do {
        _ = try await place.connect(bootstrap)
      } catch {
        line.finished.fail(error)
        throw error
      }
      lines.append(line)
    }
  }

  /// Runs all callers, and returns when the last caller is done. The first failure, or the end of
  /// `limit`, closes all connections.
  func run(within limit: TimeAmount) async throws {
    let lines = lines
    @Sendable func close() { for line in lines { line.close() } }
    let isOver = loop.scheduleTask(in: limit, close)
    defer { isOver.cancel() }
    loop.execute { for line in lines { line.begin() } }
    do {
      try await EventLoopFuture.andAllSucceed(lines.map(\.finished.futureResult), on: loop).get()
    } catch {
      loop.execute(close)
      throw error
    }
  }

  /// Sends one request on a connection of its own, and returns the answer.
  static func call(
    _ request: ByteBuffer, to place: LoadTarget, group: MultiThreadedEventLoopGroup
  ) async throws -> LoadAnswer {
    let caller = SingleCall(request)
    try await LoadExchange([caller], to: place, group: group).run(within: .seconds(30))
    guard let answer = caller.answer else { throw BenchError("a request got no answer") }
    return answer
  }
}

/// The address of a server on this machine.
enum LoadTarget: Sendable {
  case port(Int)
  /// The path of a Unix socket.
  case socket(String)

  fileprivate func connect(_ bootstrap: ClientBootstrap) async throws -> any Channel {
    switch self {
    case .port(let port):
      try await bootstrap.connect(host: Loopback.address, port: port).get()
    case .socket(let path):
      try await bootstrap.connect(unixDomainSocketPath: path).get()
    }
  }
}
