import NIOCore
import Synchronization

/// The open connections of one listener, bounded in total and for each public address. All
/// connections end when the listener drains.
package final class Connections: Sendable {
  private struct State {
    var open: [ObjectIdentifier: Open] = [:]
    var ofEach: Shares<RemoteAddress>
    var isEnding = false
    /// Called when the last connection has ended.
    var onGone: (@Sendable () -> Void)?
  }

  /// A connection, and the address against whose limit it counts; `nil` means that it counts
  /// against no address.
  private typealias Open = (channel: any Channel, remote: RemoteAddress?)

  private let countMax: Int
  private let perAddress: Int
  private let state: Mutex<State>

  /// - Parameter perAddress: how many connections one public address may have.
  package init(countMax: Int, perAddress: Int = .max) {
    self.countMax = countMax
    self.perAddress = perAddress
    state = Mutex(State(ofEach: Shares(most: .max)))
  }

  package convenience init(_ limits: HTTPLimits) {
    self.init(countMax: limits.connections, perAddress: limits.connectionsPerAddress)
  }

  package var count: Int { state.withLock { $0.open.count } }

  /// - Returns: false if there are too many connections. The caller must then close `channel`.
  func add(_ channel: any Channel) -> Bool {
    // An address that is not public may be a proxy for many callers, and is not counted.
    let remote = RemoteAddress(channel.remoteAddress).flatMap { $0.isPublic ? $0 : nil }
    let (isAdmitted, isEnding) = state.withLock { state in
      guard state.open.count < countMax,
        remote.map({ state.ofEach.take(for: $0, share: perAddress) == .taken }) ?? true
      else { return (false, state.isEnding) }
      state.open[ObjectIdentifier(channel)] = (channel, remote)
      return (true, state.isEnding)
    }
    if isAdmitted, isEnding { Self.end(channel) }
    return isAdmitted
  }

  func remove(_ channel: any Channel) {
    let onGone: (@Sendable () -> Void)? = state.withLock { state in
      let gone = state.open.removeValue(forKey: ObjectIdentifier(channel))
      if let remote = gone?.remote { state.ofEach.giveBack(of: remote) }
      return state.isEnding && state.open.isEmpty ? state.onGone.take() : nil
    }
    onGone?()
  }

  /// Closes idle connections now, and busy connections after their answers.
  ///
  /// - Parameter gone: called once when the last connection has ended.
  func endAll(_ gone: @escaping @Sendable () -> Void) {
    let open = state.withLock { state in
      state.isEnding = true
      if !state.open.isEmpty { state.onGone = gone }
      return state.open.values.map(\.channel)
    }
    if open.isEmpty { gone() }
    for channel in open { Self.end(channel) }
  }

  func closeAll() {
    for open in state.withLock({ Array($0.open.values) }) { open.channel.close(promise: nil) }
  }

  private static func end(_ channel: any Channel) {
    channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
  }
}
