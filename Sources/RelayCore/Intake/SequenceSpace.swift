/// The numbers of one producer's source in one zone.
package struct SequenceSpace: Hashable, Sendable {
  /// Keyed hash of producer and source (`Change.origin`).
  package var origin: UInt64
  package var highest: Int64
  package var missing: SequenceGaps
  /// Kept while numbers are missing: of each record and participant, the highest number above the
  /// lowest hole that was about it.
  package var settled: [UInt64: Int64]

  package init(
    origin: UInt64, highest: Int64, missing: SequenceGaps = SequenceGaps(),
    settled: [UInt64: Int64] = [:]
  ) {
    self.origin = origin
    self.highest = highest
    self.missing = missing
    self.settled = settled
  }

  func isSettled(_ subject: UInt64?, above number: Int64) -> Bool {
    guard let subject, let known = settled[subject] else { return false }
    return known > number
  }

  /// What is missing is waited for no more.
  mutating func giveUp() {
    missing = SequenceGaps()
    settled = [:]
  }
}

/// The number space of a change that ended its zone's life. What was missing then may come yet, and
/// has nothing to say any more; later numbers go on from here. Forgotten after `Limits.missingFor`,
/// so that zones that are gone leave nothing behind.
package struct Outlived: Hashable, Sendable {
  package var origin: UInt64
  /// The number of the change that ended it.
  package var end: Int64
  /// The highest number heard then: an end may come late.
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
  /// What a numbered change settles: its record, or whether a user takes part. FNV-1a, because it
  /// is kept; two records of one zone that share a hash are not to be expected.
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
