import Foundation
import NIOCore
import NIOPosix

/// Many polls or streams held open at once, and when each brought a wake.
///
/// `@unchecked Sendable`: what changes does so on the bench's one event loop only.
final class Crowd: @unchecked Sendable {
  private let paths: [String]
  private let areStreams: Bool
  private let port: Int
  private let loop: any EventLoop
  private var channels: [any Channel] = []
  private var waiters: [any Waiter] = []
  private var start = NIODeadline.now()
  private var told: [Double] = []
  private var doubled = 0
  private var broken: (any Error)?
  private var isClosing = false

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

  init(
    _ paths: [String], areStreams: Bool, port: Int, group: MultiThreadedEventLoopGroup
  ) {
    self.paths = paths
    self.areStreams = areStreams
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
    let path = paths[number]
    return ClientBootstrap(group: loop)
      .bind(to: source)
      .channelOption(.socketOption(.so_reuseaddr), value: 1)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let waiter: any Waiter =
            self.areStreams ? Stream(path, of: self) : Poll(path, of: self)
          self.waiters.append(waiter)
          try channel.pipeline.syncOperations.addHandler(waiter)
        }
      }
      .connect(host: Loopback.address, port: port)
  }

  func heard(isAgain: Bool) {
    if isAgain { return doubled += 1 }
    told.append(Double((NIODeadline.now() - start).nanoseconds) / 1e9)
  }

  func ended() {
    if !isClosing { broke(Trouble("the daemon ended a stream")) }
  }

  func broke(_ error: any Error) { broken = broken ?? error }

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

  /// Everybody polls again, as devices do; streams go on.
  func again() async throws {
    try await loop.submit { for waiter in self.waiters { waiter.again() } }.get()
  }

  func close() { for channel in channels { channel.close(promise: nil) } }

  /// From now on the daemon may end them.
  func release() async throws { try await loop.submit { self.isClosing = true }.get() }
}
