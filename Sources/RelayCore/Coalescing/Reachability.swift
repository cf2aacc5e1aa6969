/// By which roads a device can be reached now. Not durable: a restart hangs up every courier.
package struct Reachability: Hashable, Sendable {
  /// It has an address at a provider. A courier-only device waits until it connects.
  package var hasProvider = true
  package var courier = Courier.away
  /// The device came back to the courier without having got all it was told.
  var repeats = false

  package init() {}

  package enum Courier: Hashable, Sendable {
    /// Neither poll nor stream is open.
    case away
    /// One is open and can take an answer; its number tells it from those before.
    case here(connection: UInt64)
    /// A poll was answered: the device is expected back until then, and not pushed to before.
    case between(until: Instant)
  }

  package var isHere: Bool { connection != nil }

  var connection: UInt64? {
    if case .here(let connection) = courier { return connection }
    return nil
  }

  /// Until when the next poll is waited for; nil if none is expected any more.
  func expectedBack(at now: Instant) -> Instant? {
    if case .between(let until) = courier, now < until { return until }
    return nil
  }
}

/// What the courier alone told is pushed, as the same wake, unless the device acknowledges it
/// before the grace is over.
package struct PushFallback: Hashable, Sendable {
  /// Subjects told by this wake or a later one are meant.
  package var first: UInt32
  /// The newest of the courier's wakes: the number that the push carries.
  package var last: UInt32
  /// Counted from the first of them, so that further ones do not put the push off for ever.
  package var until: Instant
  /// Of the newest wake.
  package var deadline: Instant

  package init(first: UInt32, last: UInt32, until: Instant, deadline: Instant) {
    self.first = first
    self.last = last
    self.until = until
    self.deadline = deadline
  }
}
