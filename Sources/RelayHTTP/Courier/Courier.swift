package import RelayCore
package import RelayEngine
import Synchronization

/// The polls and streams that devices keep open, one for each device. There is no queue: on each
/// connection at most one wake is being written, and everything else that is pending stays in the
/// lane.
///
/// One timer wheel ends idle polls, keeps streams alive and closes connections whose devices do not
/// read, so that no connection has a timer or a task of its own.
package final class Courier: CourierConnections, Sendable {
  struct State {
    var connections: [UInt64: CourierConnection] = [:]
    /// The serial of each device's newest connection, which gets the device's wakes.
    var current: [DeviceKey: UInt64] = [:]
    /// The serials of connections, by the second in which something is due for the connection.
    var wheel = [Set<UInt64>](repeating: [], count: Courier.slots)
    var tick = 0
    var last: UInt64 = 0
    var isDraining = false
  }

  /// The length of the timer wheel in seconds: longer than the relay holds a poll.
  static let slots = 64
  /// While the courier drains, it ends connections in groups of at least `drainedAtOnce`, and waits
  /// `drainStep` milliseconds between two groups.
  private static let drainedAtOnce = 500
  private static let drainStep = 50

  let limits: HTTPLimits
  let clock: any ClockReader
  let state = Mutex(State())
  private let dated = Mutex((second: Int64(-1), text: ""))

  package init(limits: HTTPLimits, clock: any ClockReader) {
    self.limits = limits
    self.clock = clock
  }

  package var count: Int { state.withLock { $0.connections.count } }
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// Opens a connection. If the device has another open connection, that connection ends with an
  /// empty answer.
  ///
  /// - Returns: the connection's serial; nil if too many connections are open, if too many opened
  ///   connections wait for the relay's loop, or if the daemon stops.
  func open(_ connection: CourierConnection, after: UInt32?) -> UInt64? {
    let (serial, former): (UInt64?, CourierConnection?) = state.withLock { state in
      let old = state.current[connection.device]
      let others = state.connections.count - (old == nil ? 0 : 1)
      guard !state.isDraining, others < limits.courierConnections else { return (nil, nil) }
      let former = old.flatMap { state.remove($0) }
      state.last += 1
      state.connections[state.last] = connection
      state.current[connection.device] = state.last
      state.due(state.last, in: limits.courierHoldSeconds - 1)
      return (state.last, former)
    }
    former?.end(at: date)
    guard let serial else { return nil }
    guard connection.relay.connected(connection.device, connection: serial, after: after) else {
      _ = state.withLock { $0.remove(serial) }
      return nil
    }
    return serial
  }

  package func tell(
    _ device: DeviceKey, wake: UInt32, payload: [UInt8],
    answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let message = CourierMessage(wake: wake, payload: payload, answer: answer)
    let (connection, serial): (CourierConnection?, UInt64) = state.withLock { state in
      guard let serial = state.current[device], var connection = state.connections[serial],
        connection.message == nil
      else { return (nil, 0) }
      connection.message = message
      state.connections[serial] = connection
      if !connection.isStream { state.current[device] = nil }
      state.due(serial, in: limits.courierReadSeconds)
      return (connection, serial)
    }
    guard let connection else { return message.answered(Self.unheard) }
    if !connection.isStream {
      connection.relay.left(device, connection: serial, isExpectedBack: true)
    }
    connection.give(message, at: date) { [weak self] isWritten in
      if isWritten { self?.written(serial) } else { self?.broke(serial) }
    }
  }

  /// The date for an answer that is sent now. All answers of one second share one string.
  var date: String {
    let now = clock.wall()
    let second = now.milliseconds / 1_000
    return dated.withLock { dated in
      if dated.second != second { dated = (second, Timestamp.httpDate(now)) }
      return dated.text
    }
  }

  private static let unheard = Verdict.later(
    after: nil, .attempt, Verdict.Reason("the device is not connected to the courier"))

  /// Notes that the connection's wake has left for the network.
  func written(_ serial: UInt64) {
    let message: CourierMessage? = state.withLock { state in
      guard let connection = state.connections[serial], let message = connection.message else {
        return nil
      }
      if connection.isStream {
        state.connections[serial]?.message = nil
        state.due(serial, in: limits.courierHoldSeconds - 1)
      } else {
        _ = state.remove(serial)
      }
      return message
    }
    message?.answered(.delivered)
  }

  /// Ends a connection that the client has closed, or whose device does not read.
  func broke(_ serial: UInt64) {
    let (connection, wasCurrent): (CourierConnection?, Bool) = state.withLock { state in
      guard let connection = state.connections[serial] else { return (nil, false) }
      let wasCurrent = state.current[connection.device] == serial
      _ = state.remove(serial)
      return (connection, wasCurrent)
    }
    guard let connection else { return }
    if wasCurrent {
      connection.relay.left(connection.device, connection: serial, isExpectedBack: false)
    }
    connection.message?.answered(Self.unheard)
    connection.end(at: date)
  }

  package func hangUp(_ device: DeviceKey) {
    let connection = state.withLock { state in
      state.current[device].flatMap { state.remove($0) }
    }
    connection?.message?.answered(Self.unheard)
    connection?.end(at: date)
  }

  /// Called after a reload of the configuration. Ends the connections of environments that `isKept`
  /// refuses: a poll gets an empty answer, and a stream ends. The relay does not expect the devices
  /// of these connections back.
  package func keep(where isKept: (Scope) -> Bool) {
    let gone = state.withLock { state in
      // A poll whose answer is being written ends by itself.
      let serials = state.connections.filter {
        ($0.value.isStream || $0.value.message == nil) && !isKept($0.value.device.scope)
      }.keys.sorted()
      return serials.compactMap { serial in state.remove(serial).map { (serial, $0) } }
    }
    for (serial, connection) in gone {
      connection.relay.left(connection.device, connection: serial, isExpectedBack: false)
      connection.message?.answered(Self.unheard)
      connection.end(at: date)
    }
  }

  /// Advances the timer wheel every second until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      // The sleep fails only if the task is cancelled.
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      turn()
    }
  }

  /// Ends every idle connection with an empty answer, because the daemon stops. Ends them in
  /// groups, so that not all devices connect to the next daemon at once.
  func drain(within seconds: Int) async {
    let serials = state.withLock { state in
      state.isDraining = true
      return state.connections.keys.sorted()
    }
    let steps = max(1, seconds * 1_000 / 2 / Self.drainStep)
    let atOnce = max(Self.drainedAtOnce, (serials.count + steps - 1) / steps)
    for first in stride(from: 0, to: serials.count, by: atOnce) {
      for serial in serials[first..<min(first + atOnce, serials.count)] { finish(serial) }
      if first + atOnce < serials.count {
        // If the task is cancelled, all remaining connections end at once.
        try? await Task.sleep(for: .milliseconds(Self.drainStep))
      }
    }
  }

  /// Ends an idle connection. A poll gets an empty answer, and the relay then expects the device's
  /// next poll.
  func finish(_ serial: UInt64) {
    let connection: CourierConnection? = state.withLock { state in
      guard let connection = state.connections[serial], connection.message == nil else {
        return nil
      }
      _ = state.remove(serial)
      return connection
    }
    guard let connection else { return }
    connection.relay.left(
      connection.device, connection: serial, isExpectedBack: !connection.isStream)
    connection.end(at: date)
  }
}
