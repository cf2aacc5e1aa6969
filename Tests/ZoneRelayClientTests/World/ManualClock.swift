import Foundation
@testable import ZoneRelayClient

/// A clock that stands still. A sleep moves it forward and returns at once.
final class ManualClock: ClientClock {
  private let lock = NSLock()
  // Every access holds the lock.
  nonisolated(unsafe) private var time = Duration.zero
  nonisolated(unsafe) private var waits: [Duration] = []
  let chance: Double

  init(chance: Double = 0.5) { self.chance = chance }

  var now: Duration { lock.withLock { time } }
  var date: Date { Date(timeIntervalSince1970: 1_795_000_000 + now / .seconds(1)) }
  /// All sleeps so far.
  var sleeps: [Duration] { lock.withLock { waits } }

  func sleep(for time: Duration) async throws {
    try Task.checkCancellation()
    pass(time, asSleep: true)
  }

  func pass(_ time: Duration) { pass(time, asSleep: false) }

  private func pass(_ time: Duration, asSleep isSleep: Bool) {
    lock.withLock {
      self.time += time
      if isSleep { waits.append(time) }
    }
  }
}
