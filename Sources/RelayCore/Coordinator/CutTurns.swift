/// Which partitions a cut leaves out while a reader waits: every other cut is without those that
/// have much to fold. A reader in another partition so waits for one large fold, and not for two.
struct CutTurns: Sendable {
  private(set) var leftOut: Set<PartitionID> = []

  /// Leaves out torn partitions, and large ones that were in the last cut, unless nothing else
  /// would be left.
  ///
  /// - Parameters:
  ///   - large: partitions with `WorkBounds.entriesOfLarge` at least.
  ///   - torn: partitions that no cut may hold now.
  ///   - isDirty: whether a cut without these partitions has anything to write.
  mutating func next(
    large: Set<PartitionID>, torn: Set<PartitionID>, isDirty: (Set<PartitionID>) -> Bool
  ) -> Set<PartitionID> {
    let without = torn.union(large.subtracting(leftOut))
    leftOut = isDirty(without) ? without : torn
    return leftOut
  }
}
