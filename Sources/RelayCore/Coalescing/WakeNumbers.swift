/// The numbers of a lane's wakes. Only numbers that are durably reserved are given out, so no later
/// life repeats one.
package struct WakeNumbers: Hashable, Sendable {
  package static let reservedAtOnce: UInt32 = 16

  package private(set) var next: UInt32
  /// All numbers below this one are durably reserved.
  package private(set) var reserved: UInt32
  /// What the last record reserved; counts once its fold is durable.
  private var reserving: UInt32 = 0

  /// - Parameter isExact: the life before was stopped and not killed, so no number was given out
  ///   since the record was written. Otherwise numbers go on behind those reserved: they may jump,
  ///   and never repeat.
  init(_ record: LaneRecord, isExact: Bool) {
    next = isExact ? record.nextWake : record.reservedWake
    reserved = record.reservedWake
  }

  /// No number can be given out before a fold has reserved more.
  var areUsedUp: Bool { next >= reserved }

  mutating func take() { next += 1 }

  /// - Returns: what a record written now reserves.
  mutating func reserve() -> UInt32 {
    if reserved < next + Self.reservedAtOnce / 2 { reserving = next + Self.reservedAtOnce }
    return max(reserved, reserving)
  }

  /// The record's fold is durable.
  mutating func folded() { reserved = max(reserved, reserving) }
}
