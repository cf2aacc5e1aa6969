import Foundation
import NIOCore

/// Many polls or streams held open at once, with the time when each brought a wake.
struct Crowd: Sendable {
  private let parts: [CrowdPart]
  private let count: Int
  /// The event loop on which this type waits for the results of the other loops.
  private let home: any EventLoop

  /// The results of one change.
  struct Reached: Sendable {
    /// Seconds until each poll brought its wake, in rising order.
    var seconds: [Double]
    /// Wakes that a poll brought a second time.
    var doubled: Int

    func after(_ share: Double) -> Double {
      seconds[min(seconds.count - 1, Int(Double(seconds.count) * share))]
    }
  }

  /// - Parameters:
  ///   - loops: the event loops, each of which holds a share of the connections.
  ///   - home: the loop on which callers wait for the results (``FileTables``).
  init(
    _ paths: [String], areStreams: Bool, port: Int, loops: [any EventLoop], home: any EventLoop
  ) {
    count = paths.count
    self.home = home
    let share = (paths.count + loops.count - 1) / loops.count
    parts = loops.enumerated().map { index, loop in
      let numbers = min(index * share, paths.count)..<min((index + 1) * share, paths.count)
      return CrowdPart(paths, numbers, areStreams: areStreams, port: port, loop: loop)
    }
  }

  func open() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      for part in parts {
        group.addTask {
          while try await part.openMore().hop(to: home).get() {}
        }
      }
      try await group.waitForAll()
    }
  }

  /// Starts to time the next change.
  func begin() async throws {
    let start = NIODeadline.now()
    _ = try await ask { $0.begin(at: start) }
  }

  /// Waits until every poll has brought its wake.
  ///
  /// - Throws: `BenchError` if some polls have brought no wake within the limit.
  func reached(within limit: Duration) async throws -> Reached {
    let deadline = ContinuousClock.now + limit
    var told = 0
    while .now < deadline {
      let states = try await ask { ($0.told.count, $0.broken) }
      if let broken = states.lazy.compactMap(\.1).first { throw broken }
      told = states.reduce(0) { $0 + $1.0 }
      if told >= count {
        let parts = try await ask { ($0.told, $0.doubled) }
        return Reached(
          seconds: parts.flatMap(\.0).sorted(), doubled: parts.reduce(0) { $0 + $1.1 })
      }
      try await ContinuousClock().sleep(for: .milliseconds(20))
    }
    throw BenchError(
      "\(count - told) of \(count) polls brought no wake within \(limit.components.seconds) s")
  }

  /// Lets all devices poll again, as real devices do; streams continue.
  func again() async throws { _ = try await ask { $0.again() } }

  /// From now on the daemon may close the connections. Before, a closed stream makes the run fail.
  func release() async throws { _ = try await ask { $0.isClosing = true } }

  func close() async throws { _ = try await ask { $0.close() } }

  private func ask<LoadAnswer: Sendable>(
    _ question: @escaping @Sendable (CrowdPart) -> LoadAnswer
  ) async throws -> [LoadAnswer] {
    let answers = parts.map { part in part.loop.submit { question(part) }.hop(to: home) }
    return try await EventLoopFuture.whenAllSucceed(answers, on: home).get()
  }
}
