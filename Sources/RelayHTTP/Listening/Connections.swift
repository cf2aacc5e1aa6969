import NIOCore
import Synchronization

/// The open connections of one listener: bounded, and told to end when it drains.
package final class Connections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: any Channel] = [:]
    var isEnding = false
    /// Called when the last has ended.
    var onGone: (@Sendable () -> Void)?
  }

  private let countMax: Int
  private let state = Mutex(State())

  package init(countMax: Int) { self.countMax = countMax }

  package var count: Int { state.withLock { $0.open.count } }

  /// - Returns: false if there are too many: the caller closes it.
  func add(_ channel: any Channel) -> Bool {
    let (isAdmitted, isEnding) = state.withLock { state in
      guard state.open.count < countMax else { return (false, state.isEnding) }
      state.open[ObjectIdentifier(channel)] = channel
      return (true, state.isEnding)
    }
    if isAdmitted, isEnding { Self.end(channel) }
    return isAdmitted
  }

  func remove(_ channel: any Channel) {
    let onGone: (@Sendable () -> Void)? = state.withLock { state in
      state.open.removeValue(forKey: ObjectIdentifier(channel))
      return state.isEnding && state.open.isEmpty ? state.onGone.take() : nil
    }
    onGone?()
  }

  /// Idle ones close now, busy ones after their answer.
  ///
  /// - Parameter gone: called once when the last has ended.
  func endAll(_ gone: @escaping @Sendable () -> Void) {
    let open = state.withLock { state in
      state.isEnding = true
      if !state.open.isEmpty { state.onGone = gone }
      return Array(state.open.values)
    }
    if open.isEmpty { gone() }
    for channel in open { Self.end(channel) }
  }

  func closeAll() {
    for channel in state.withLock({ Array($0.open.values) }) { channel.close(promise: nil) }
  }

  private static func end(_ channel: any Channel) {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }
}
