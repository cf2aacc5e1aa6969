import Foundation
import NIOCore
import NIOPosix

/// The part of a crowd that lives on one event loop.
///
/// `@unchecked Sendable`: what changes does so on that loop only.
final class CrowdPart: @unchecked Sendable {
  let loop: any EventLoop
  private let paths: [String]
  private let end: Int
  private let areStreams: Bool
  private let port: Int
  private var next: Int
  private var channels: [any Channel] = []
  private var waiters: [any Waiter] = []
  private var start = NIODeadline.now()
  /// Seconds until each wake.
  private(set) var told: [Double] = []
  private(set) var doubled = 0
  private(set) var broken: (any Error)?
  var isClosing = false

  /// - Parameter numbers: which of the paths are its own.
  init(
    _ paths: [String], _ numbers: Range<Int>, areStreams: Bool, port: Int, loop: any EventLoop
  ) {
    self.paths = paths
    (next, end) = (numbers.lowerBound, numbers.upperBound)
    self.areStreams = areStreams
    self.port = port
    self.loop = loop
  }

  /// Connections from one loopback address: fewer than it has free ports.
  private static let portsEach = 18_000
  /// Below those that the kernel gives away.
  private static let portsFirst = 12_000
  /// Opened at once: fewer than the server's queue holds.
  private static let atOnce = 256

  /// - Returns: whether there are still more to open.
  func openMore() -> EventLoopFuture<Bool> {
    // A socket belongs to the thread that makes it (``FileTables``).
    loop.flatSubmit {
      let numbers = self.next..<min(self.next + Self.atOnce, self.end)
      self.next = numbers.upperBound
      return EventLoopFuture.whenAllSucceed(numbers.map { self.connect($0) }, on: self.loop)
        .map { channels in
          self.channels += channels
          return self.next < self.end
        }
    }
  }

  /// The port is ours to choose: the kernel looks for a free one the longer the fewer there are.
  private func connect(_ number: Int) -> EventLoopFuture<any Channel> {
    let (source, target): (SocketAddress, SocketAddress)
    do {
      source = try SocketAddress(
        ipAddress: "127.0.0.\(2 + number / Self.portsEach)",
        port: Self.portsFirst + number % Self.portsEach)
      target = try SocketAddress(ipAddress: Loopback.address, port: port)
    } catch {
      return loop.makeFailedFuture(error)
    }
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
      .connect(to: target)
  }

  func heard(isAgain: Bool) {
    if isAgain { return doubled += 1 }
    told.append(Double((NIODeadline.now() - start).nanoseconds) / 1e9)
  }

  func ended() {
    if !isClosing { broke(Trouble("the daemon ended a stream")) }
  }

  func broke(_ error: any Error) { broken = broken ?? error }

  func begin(at time: NIODeadline) {
    start = time
    told = []
    doubled = 0
  }

  func again() { for waiter in waiters { waiter.again() } }

  func close() { for channel in channels { channel.close(promise: nil) } }
}
