package import RelayCore
package import RelayEngine
import Synchronization

/// The polls and streams that devices keep open, one for each device. There is no queue: a
/// connection has at most one answer that its reader has not taken, and everything else that is
/// pending stays in the lane.
///
/// One timer wheel ends idle polls, keeps streams alive and closes connections whose readers do not
/// read, so that no connection has a timer or a task of its own.
package final class Courier: CourierConnections, Sendable {
  struct State {
    var connections: [UInt64: CourierConnection] = [:]
    /// The newest connection of each device: the one that gets its wakes.
    var current: [DeviceKey: UInt64] = [:]
    /// Connections by the second in which something is due for them.
    var wheel = [Set<UInt64>](repeating: [], count: Courier.slots)
    var tick = 0
    var last: UInt64 = 0
    var isDraining = false
  }

  /// The length of the timer wheel in seconds: longer than the relay holds a poll.
  static let slots = 64
  /// While draining: how many connections end at once, and how many milliseconds pass between two
  /// such groups.
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

  /// Opens a connection. The device's previous connection ends with an empty answer, and the new
  /// one takes its place.
  ///
  /// - Returns: the connection's number; nil if there are too many, or if the daemon stops.
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

  /// The date for an answer that is sent now. All answers of one second share its text.
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

  /// The answer has left for the network.
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

  /// The connection is gone, or its reader does not read.
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

  /// Called after a reload. Connections of removed environments end as idle ones do, and their
  /// devices are not expected back.
  package func keep(where isKept: (Scope) -> Bool) {
    let gone = state.withLock { state in
      // A poll that has its answer ends by itself.
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

  /// Advances the timer wheel every second until cancelled.
  func run() async {
    while !Task.isCancelled {
      // The sleep fails only if the task is cancelled.
      guard (try? await Task.sleep(for: .seconds(1))) != nil else { return }
      turn()
    }
  }

  /// Ends every connection with an empty answer, because the daemon stops. Ends a few at a time, so
  /// that they do not all return to the next daemon at once.
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

  /// Ends an idle connection. A poll gets an empty answer, and the relay expects the next poll of
  /// its device.
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
