/// An attempt to wake a device, as it was decided. The push's id follows from device and number.
package struct TracedWake: Hashable, Sendable {
  package var number: UInt32
  package var transport: Transport
  package var topic: String
  /// Whether the wake runs the app. Only such a wake tells of what it names besides its alert.
  package var runsApp: Bool
  /// The notification that the wake shows.
  package var shows: Identifier
  /// The subscription whose alert the wake shows; `nil` if the wake shows no alert.
  package var alertOf: SubscriptionID?
  /// The parts of the lane that the wake names.
  package var names: [TracedPart]
  /// Which try this is to bring the wake to the device; the first is 1.
  package var tries: Int
  package var cause: Cause

  package var alert: TracedAlert? {
    alertOf.map { TracedAlert(notification: shows, subscription: $0) }
  }

  /// Why the wake is sent.
  package enum Cause: UInt8, Hashable, Sendable {
    /// Something is not told yet.
    case news = 1
    /// The device has not acknowledged, and the ladder repeats what was told.
    case ladder
    /// A push or the courier repeats what only the courier has told.
    case fallback
  }
}

/// How an attempt ended.
package struct TracedVerdict: Hashable, Sendable {
  package var wake: UInt32
  package var verdict: Verdict
  /// Until when the lane rests; `nil` if the lane does not rest.
  package var rests: Instant?
  /// Whether the alert that the attempt showed was given up, so that no later wake shows it.
  package var dropsAlert: Bool
}

/// A proof by a device of what the device has.
package enum TracedReceipt: Hashable, Sendable {
  /// The device proved that it has received this. A list of zones holds only zones that pend, or
  /// all zones if the device has acknowledged nothing before.
  case acknowledged(Acknowledged)
  /// The device connected to the courier with the number of the newest wake that it has received.
  case connected(after: UInt32)
  /// These notifications, whose alerts wait or are on their way, were marked as read.
  case marked([Identifier])
}
