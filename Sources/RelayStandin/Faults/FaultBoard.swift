import NIOCore
import Synchronization

/// The current faults, and the callbacks that run at each change of the faults.
///
/// The faults are set on the stand-in's event loop, and may be read on any thread.
final class FaultBoard: Sendable {
  private let loop: any EventLoop
  private let state = Mutex(State())

  private struct State {
    var faults = Faults()
    var hearers: [Int: @Sendable (Faults) -> Void] = [:]
    var last = 0
    var requests = 0
  }

  init(loop: any EventLoop) { self.loop = loop }

  var faults: Faults { state.withLock { $0.faults } }

  /// Counts one more request and returns its number.
  func count() -> Int {
    state.withLock { state in
      state.requests += 1
      return state.requests
    }
  }

  /// Replaces the current faults. When the call returns, the new faults apply to all connections.
  func set(_ faults: Faults) async throws {
    try await loop.submit { self.change(faults) }.get()
  }

  /// Does what `set` does; the caller must be on the event loop.
  func change(_ faults: Faults) {
    loop.assertInEventLoop()
    let hearers = state.withLock { state in
      state.faults = faults
      return state.hearers.sorted { $0.key < $1.key }.map(\.value)
    }
    for hearer in hearers { hearer(faults) }
  }

  /// Calls `hear` on the event loop at each change of the faults, until the channel closes.
  func tell(_ channel: any Channel, _ hear: @escaping @Sendable (Faults) -> Void) {
    let number = state.withLock { state in
      state.last += 1
      state.hearers[state.last] = hear
      return state.last
    }
    channel.closeFuture.whenComplete { _ in
      self.state.withLock { $0.hearers[number] = nil }
    }
  }
}
