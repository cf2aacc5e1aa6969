import RelayCore

/// Which partitions a cut leaves out while a reader waits: every other cut is without those that
/// have much to fold. A reader in another partition so waits for one large fold, and not for two.
struct CutTurns: Sendable {
  /// A partition with so many new entries waits for the next cut: folding them takes some ten
  /// milliseconds.
  static let entries = 256

  private var leftOut: Set<PartitionID> = []

  /// What this cut leaves out: nothing that the last one left out.
  ///
  /// - Parameters:
  ///   - large: partitions with `entries` at least.
  ///   - isOthersDirty: whether a cut without these partitions has anything to write.
  mutating func next(
    large: Set<PartitionID>, isOthersDirty: (Set<PartitionID>) -> Bool
  ) -> Set<PartitionID> {
    let candidates = large.subtracting(leftOut)
    leftOut = candidates.isEmpty || !isOthersDirty(candidates) ? [] : candidates
    return leftOut
  }
}
