import Foundation
import NIOCore
import NIOPosix

/// Many polls held open at once, and when each was answered.
///
/// `@unchecked Sendable`: what changes does so on the bench's one event loop only.
final class Crowd: @unchecked Sendable {
  private let paths: [String]
  private let port: Int
  private let loop: any EventLoop
  private var channels: [any Channel] = []
  private var start = NIODeadline.now()
  private var answered: [Double] = []

  init(_ paths: [String], port: Int, group: MultiThreadedEventLoopGroup) {
    self.paths = paths
    self.port = port
    loop = group.next()
  }

  /// Connections from one loopback address: fewer than it has free ports.
  private static let portsEach = 20_000
  /// Opened at once: fewer than the server's queue holds.
  private static let atOnce = 256

  func open() async throws {
    for first in stride(from: 0, to: paths.count, by: Self.atOnce) {
      let opening = try (first..<min(first + Self.atOnce, paths.count)).map { try connect($0) }
      channels += try await EventLoopFuture.whenAllSucceed(opening, on: loop).get()
    }
  }

  private func connect(_ number: Int) throws -> EventLoopFuture<any Channel> {
    let source = try SocketAddress(
      ipAddress: "127.0.0.\(2 + number / Self.portsEach)", port: 0)
    let request = RequestText.get(paths[number])
    return ClientBootstrap(group: loop)
      .bind(to: source)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Ear { self.heard() })
        }
      }
      .connect(host: Loopback.address, port: port)
      .flatMap { channel in channel.writeAndFlush(request).map { channel } }
  }

  private func heard() {
    answered.append(Double((NIODeadline.now() - start).nanoseconds) / 1e9)
  }

  /// Seconds from the call before until each poll was answered, in order; those that were within
  /// the limit.
  func reached(within limit: Duration) async throws -> [Double] {
    let deadline = ContinuousClock.now + limit
    while .now < deadline {
      let answered = try await loop.submit { self.answered }.get()
      if answered.count >= paths.count { return answered.sorted() }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    return try await loop.submit { self.answered }.get().sorted()
  }

  /// From now on time counts.
  func begin() async throws {
    try await loop.submit {
      self.start = .now()
      self.answered = []
    }.get()
  }

  func close() { for channel in channels { channel.close(promise: nil) } }
}

/// Hears the first bytes of an answer.
private final class Ear: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  private var heard: (() -> Void)?

  init(_ heard: @escaping () -> Void) { self.heard = heard }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    heard?()
    heard = nil
  }
}
