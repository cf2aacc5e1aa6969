import Foundation
import NIOCore
import NIOPosix

/// The part of a crowd whose connections are on one event loop.
///
/// `@unchecked Sendable`: the state of the part changes on that loop only.
final class CrowdPart: @unchecked Sendable {
  let loop: any EventLoop
  private let paths: [String]
  private let end: Int
  private let areStreams: Bool
  private let port: Int
  private var next: Int
  private var channels: [any Channel] = []
  private var waiters: [Waiter] = []
  private var start = NIODeadline.now()
  /// Seconds from the change to each wake.
  private(set) var told: [Double] = []
  private(set) var doubled = 0
  private(set) var broken: (any Error)?
  var isClosing = false

  /// - Parameters:
  ///   - paths: the URL paths that the connections of the whole crowd request.
  ///   - numbers: the indices of the paths that this part of the crowd requests.
  init(
    _ paths: [String], _ numbers: Range<Int>, areStreams: Bool, port: Int, loop: any EventLoop
  ) {
    self.paths = paths
    (next, end) = (numbers.lowerBound, numbers.upperBound)
    (self.areStreams, self.port, self.loop) = (areStreams, port, loop)
  }

  /// How many connections use one loopback address: fewer than the address has free ports.
  private static let portsEach = 18_000
  /// The first source port. All source ports are below those that the kernel chooses.
  private static let portsFirst = 12_000
  /// How many connections are opened at once: fewer than the server's accept queue holds.
  private static let atOnce = 256

  /// - Returns: true if there are more connections to open.
  func openMore() -> EventLoopFuture<Bool> {
    // A socket exists only for the thread that opens it (``FileTables``).
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

  /// Connects from a source port that this method chooses, because the kernel's search takes longer
  /// the fewer ports are free.
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
          let waiter = self.areStreams ? Stream(path, of: self) : Poll(path, of: self)
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
    if !isClosing { broke(BenchError("the daemon ended a stream")) }
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
