/// Which partitions a cut leaves out while something waits for a fold. If a cut leaves out a
/// partition because that partition has much to fold, the next cut does not leave out this
/// partition for this reason again. So a reader in another partition waits for one large fold, and
/// not for two.
struct CutTurns: Sendable {
  private(set) var leftOut: Set<PartitionID> = []

  /// Leaves out torn partitions, and large ones that the last cut did not leave out. If the new cut
  /// would then be empty, only torn partitions are left out.
  ///
  /// - Parameters:
  ///   - large: partitions with at least `WorkBounds.entriesOfLarge` new entries.
  ///   - torn: partitions that must not be in a cut now.
  ///   - isDirty: whether a cut that leaves out the given partitions has anything to write.
  mutating func next(
    large: Set<PartitionID>, torn: Set<PartitionID>, isDirty: (Set<PartitionID>) -> Bool
  ) -> Set<PartitionID> {
    let without = torn.union(large.subtracting(leftOut))
    leftOut = isDirty(without) ? without : torn
    return leftOut
  }
}
