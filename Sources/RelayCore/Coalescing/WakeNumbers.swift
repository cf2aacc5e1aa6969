/// The numbers of a lane's wakes. Only numbers that are durably reserved are given out, so no later
/// life of the daemon repeats a number.
package struct WakeNumbers: Hashable, Sendable {
  package static let reservedAtOnce: UInt32 = 16

  package private(set) var next: UInt32
  /// All numbers below this number are durably reserved.
  package private(set) var reserved: UInt32
  /// The last ``LaneRecord`` reserves the numbers below this one, once its fold is durable.
  private var reserving: UInt32 = 0

  /// - Parameter isExact: whether the daemon stopped cleanly before, so that it gave out no number
  ///   after it wrote the record. Otherwise the numbers go on after the reserved numbers: some
  ///   numbers may be skipped, and none is repeated.
  init(_ record: LaneRecord, isExact: Bool) {
    next = isExact ? record.nextWake : record.reservedWake
    reserved = record.reservedWake
  }

  /// Whether no number can be given out before a fold has reserved more numbers.
  var areUsedUp: Bool { next >= reserved }

  mutating func take() { next += 1 }

  /// - Returns: the number for the next ``LaneRecord``: all numbers below it are reserved when that
  ///   record is durable.
  mutating func reserve() -> UInt32 {
    if reserved < next + Self.reservedAtOnce / 2 { reserving = next + Self.reservedAtOnce }
    return max(reserved, reserving)
  }

  /// Notes that the fold of the last ``LaneRecord`` is durable, so its numbers are reserved.
  mutating func folded() { reserved = max(reserved, reserving) }
}
