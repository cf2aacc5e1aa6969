/// How a device can be reached now. The value is not durable, because a restart ends every
/// connection to the courier.
package struct Reachability: Hashable, Sendable {
  /// Whether the device has an address at a provider. Without such an address, wakes wait until the
  /// device connects to the courier.
  package var hasProvider = true
  package var courier = Courier.away
  /// Whether the device reconnected to the courier without having received all wakes, so that the
  /// courier repeats them.
  var repeats = false

  package init() {}

  package enum Courier: Hashable, Sendable {
    /// Neither poll nor stream is open.
    case away
    /// A poll or stream is open and can take an answer. The number identifies the connection.
    case here(connection: UInt64)
    /// A poll was answered. The relay waits for the device's next poll until this time, and sends
    /// no push while it waits.
    case between(until: Instant)
  }

  package var isHere: Bool { connection != nil }

  var connection: UInt64? {
    if case .here(let connection) = courier { return connection }
    return nil
  }

  /// The time until which the next poll is expected; `nil` if no poll is expected any more.
  func expectedBack(at now: Instant) -> Instant? {
    if case .between(let until) = courier, now < until { return until }
    return nil
  }
}

/// The push that repeats what only the courier told. The push is sent, as the same wake, unless the
/// device acknowledges within `courierGrace`.
package struct PushFallback: Hashable, Sendable {
  /// The first of the courier's wakes: the push is about subjects that this wake or a later wake
  /// told.
  package var first: UInt32
  /// The newest of the courier's wakes: the number that the push carries.
  package var last: UInt32
  /// When the push is due: `courierGrace` after the first wake, so that later wakes do not delay
  /// it.
  package var until: Instant
  /// The time until which the relay tries to deliver the newest wake.
  package var deadline: Instant

  package init(first: UInt32, last: UInt32, until: Instant, deadline: Instant) {
    (self.first, self.last, self.until, self.deadline) = (first, last, until, deadline)
  }

  func covers(_ subject: Pending) -> Bool { subject.toldBy >= first }
}
