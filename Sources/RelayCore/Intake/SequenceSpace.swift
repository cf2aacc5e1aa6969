/// The numbers of one producer's source in one zone.
package struct SequenceSpace: Hashable, Sendable {
  /// Keyed hash of producer and source (`Change.origin`).
  package var origin: UInt64
  package var highest: Int64
  package var missing: SequenceGaps
  /// For each record and participant, the highest number of a change about that record or
  /// participant, if this number is above the lowest hole. The table is empty unless numbers are
  /// missing.
  package var settled: [UInt64: Int64]

  package init(
    origin: UInt64, highest: Int64, missing: SequenceGaps = SequenceGaps(),
    settled: [UInt64: Int64] = [:]
  ) {
    (self.origin, self.highest, self.missing, self.settled) = (origin, highest, missing, settled)
  }

  func isSettled(_ subject: UInt64?, above number: Int64) -> Bool {
    guard let subject, let known = settled[subject] else { return false }
    return known > number
  }

  /// Stops waiting for the missing numbers.
  mutating func giveUp() {
    missing = SequenceGaps()
    settled = [:]
  }
}

/// The number space of a change that ended its zone's life. The change of a number that was missing
/// at the end may still come, and is then dropped. Higher numbers continue the space. The space is
/// forgotten after `Limits.missingFor`, so that deleted zones leave nothing behind.
package struct Outlived: Hashable, Sendable {
  package var origin: UInt64
  /// The number of the change that ended the zone's life.
  package var end: Int64
  /// The highest number known when the life ended. It may be above `end`, because the change that
  /// ended the life may come late.
  package var highest: Int64
  package var holes: SequenceGaps
  package var since: Instant

  package init(origin: UInt64, end: Int64, highest: Int64, holes: SequenceGaps, since: Instant) {
    self.origin = origin
    self.end = end
    self.highest = highest
    self.holes = holes
    self.since = since
  }
}

extension Change {
  /// Hash of what a numbered change settles: its record, or whether a user takes part. The hash is
  /// stored, so it is FNV-1a, which is the same in every process. A collision of two records in one
  /// zone is too unlikely to handle.
  var settles: UInt64? {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func mix(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
    switch event {
    case .record(let record):
      mix(1)
      for byte in record.name.utf8 { mix(byte) }
    case .granted(let user), .revoked(let user):
      mix(2)
      for byte in user.name.utf8 { mix(byte) }
    case .zone: return nil
    }
    return hash
  }
}
