import Foundation
import NIOCore
import NIOPosix

/// Many polls held open at once, and when each brought a wake.
///
/// `@unchecked Sendable`: what changes does so on the bench's one event loop only.
final class Crowd: @unchecked Sendable {
  private let paths: [String]
  private let port: Int
  private let loop: any EventLoop
  private var channels: [any Channel] = []
  private var polls: [Poll] = []
  private var start = NIODeadline.now()
  private var told: [Double] = []
  private var doubled = 0
  private var broken: (any Error)?

  /// What came of one change.
  struct Reached: Sendable {
    /// Seconds until each poll brought its wake, in order.
    var seconds: [Double]
    /// Wakes that a poll brought once more.
    var doubled: Int

    func after(_ share: Double) -> Double {
      seconds[min(seconds.count - 1, Int(Double(seconds.count) * share))]
    }
  }

  init(_ paths: [String], port: Int, group: MultiThreadedEventLoopGroup) {
    self.paths = paths
    self.port = port
    loop = group.next()
  }

  /// Connections from one loopback address: fewer than it has free ports.
  private static let portsEach = 18_000
  /// Below those that the kernel gives away.
  private static let portsFirst = 12_000
  /// Opened at once: fewer than the server's queue holds.
  private static let atOnce = 256

  func open() async throws {
    for first in stride(from: 0, to: paths.count, by: Self.atOnce) {
      let opening = try (first..<min(first + Self.atOnce, paths.count)).map { try connect($0) }
      channels += try await EventLoopFuture.whenAllSucceed(opening, on: loop).get()
    }
  }

  /// The port is ours to choose: the kernel looks for a free one the longer the fewer there are.
  private func connect(_ number: Int) throws -> EventLoopFuture<any Channel> {
    let source = try SocketAddress(
      ipAddress: "127.0.0.\(2 + number / Self.portsEach)",
      port: Self.portsFirst + number % Self.portsEach)
    let request = RequestText.get(paths[number])
    return ClientBootstrap(group: loop)
      .bind(to: source)
      .channelOption(.socketOption(.so_reuseaddr), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let poll = Poll(request, of: self)
          self.polls.append(poll)
          try channel.pipeline.syncOperations.addHandler(poll)
        }
      }
      .connect(host: Loopback.address, port: port)
  }

  fileprivate func heard(isAgain: Bool) {
    if isAgain { return doubled += 1 }
    told.append(Double((NIODeadline.now() - start).nanoseconds) / 1e9)
  }

  fileprivate func broke(_ error: any Error) { broken = broken ?? error }

  /// From now on time counts.
  func begin() async throws {
    try await loop.submit {
      self.start = .now()
      self.told = []
      self.doubled = 0
    }.get()
  }

  /// Waits until every poll has brought its wake, and a little longer for what comes twice.
  ///
  /// - Throws: `Trouble` if some have not within the limit.
  func reached(within limit: Duration) async throws -> Reached {
    let deadline = ContinuousClock.now + limit
    while .now < deadline {
      let (count, broken) = try await loop.submit { (self.told.count, self.broken) }.get()
      if let broken { throw broken }
      if count >= paths.count {
        return try await loop.submit {
          Reached(seconds: self.told.sorted(), doubled: self.doubled)
        }.get()
      }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    let count = try await loop.submit { self.told.count }.get()
    throw Trouble(
      "\(paths.count - count) of \(paths.count) polls brought no wake within "
        + "\(limit.components.seconds) s")
  }

  /// Everybody polls again, as devices do.
  func again() async throws {
    try await loop.submit { for poll in self.polls { poll.again() } }.get()
  }

  func close() { for channel in channels { channel.close(promise: nil) } }
}

/// One device's poll. One that is answered empty is asked again at once; one that brought a wake
/// waits for `again`.
private final class Poll: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  private let request: ByteBuffer
  private unowned let crowd: Crowd
  private var scanner = AnswerScanner()
  private var context: ChannelHandlerContext?
  private var isTold = false

  init(_ request: ByteBuffer, of crowd: Crowd) {
    self.request = request
    self.crowd = crowd
  }

  func channelActive(context: ChannelHandlerContext) {
    self.context = context
    again()
  }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  func again() {
    isTold = false
    context?.writeAndFlush(wrapOutboundOut(request), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    var bytes = unwrapInboundIn(data)
    scanner.append(&bytes)
    do {
      while let answer = try scanner.next() {
        guard answer.status == 200 else {
          throw Trouble("a poll was answered \(answer.status): \(String(buffer: answer.body))")
        }
        if answer.body.readableBytes == 0 {
          if !isTold { again() }
        } else {
          crowd.heard(isAgain: isTold)
          isTold = true
        }
      }
    } catch {
      crowd.broke(error)
      context.close(promise: nil)
    }
  }
}
