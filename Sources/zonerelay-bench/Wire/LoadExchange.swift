import NIOCore
import NIOPosix

/// Many connections to one server on loopback, each with a caller of its own.
struct LoadExchange {
  private let lines: [LoadConnection]
  private let finished: [EventLoopFuture<Void>]
  private let channels: [any Channel]
  private let loop: any EventLoop

  /// Opens all connections without sending a request.
  init(_ callers: [any LoadCaller], to place: LoadTarget, group: MultiThreadedEventLoopGroup)
    async throws
  {
    loop = group.next()
    var lines: [LoadConnection] = []
    var finished: [EventLoopFuture<Void>] = []
    var channels: [any Channel] = []
    for caller in callers {
      let promise = loop.makePromise(of: Void.self)
      let line = LoadConnection(caller, finished: promise)
      let bootstrap = ClientBootstrap(group: loop)
        .channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(.maxMessagesPerRead, value: 1)
        .channelInitializer { channel in
          channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(line)
          }
        }
      do {
        channels.append(try await place.connect(bootstrap))
      } catch {
        promise.fail(error)
        throw error
      }
      lines.append(line)
      finished.append(promise.futureResult)
    }
    (self.lines, self.finished, self.channels) = (lines, finished, channels)
  }

  /// Runs all callers, and returns when the last caller is done. The first failure, or the end of
  /// `limit`, closes all connections.
  func run(within limit: TimeAmount) async throws {
    let channels = channels
    let isOver = loop.scheduleTask(in: limit) {
      for channel in channels { channel.close(promise: nil) }
    }
    defer { isOver.cancel() }
    let lines = lines
    loop.execute { for line in lines { line.begin() } }
    do {
      try await EventLoopFuture.andAllSucceed(finished, on: loop).get()
    } catch {
      for channel in channels { channel.close(promise: nil) }
      throw error
    }
  }

  /// Sends one request on a connection of its own, and returns the answer.
  static func call(
    _ request: ByteBuffer, to place: LoadTarget, group: MultiThreadedEventLoopGroup
  ) async throws -> LoadAnswer {
    let promise = group.next().makePromise(of: LoadAnswer.self)
    do {
      let exchange = try await LoadExchange(
        [SingleCall(request, promise: promise)], to: place, group: group)
      try await exchange.run(within: .seconds(30))
    } catch {
      promise.fail(error)
    }
    return try await promise.futureResult.get()
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
