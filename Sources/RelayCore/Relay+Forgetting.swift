import HeapModule

/// The memory of event ids is one for all partitions: a hot zone may use all of it.
///
/// What is too old goes when the next change is stepped, by that change's journalled time. What is
/// too much depends on all partitions, and a replay begins in each of them where its own last fold
/// ended: it could not judge it alike. Therefore forgetting is a fact: stepped again, it forgets
/// the same ids at the same place between the same changes, so that no repeat dropped in one life
/// is taken in the next, and nothing taken is dropped.
extension Relay {
  /// Whether a change was taken before, and is remembered: its repeat is a duplicate.
  package func knows(_ change: Change) -> Bool {
    partitions[Int(change.home.number)].ids.contains(change.fingerprint)
  }

  /// Asks partitions to forget their oldest ids, oldest first over all of them, once there are too
  /// many; and ids that are too old where no change comes to push them out. A busy hour's go in
  /// several rounds: none keeps the loop for long.
  mutating func forgetIDs(at now: Instant, into effects: inout [Effect]) {
    var count = 0
    for index in partitions.indices {
      // One round at a time: what was asked for is not gone before it is stepped.
      if partitions[index].ids.isForgetAsked { return }
      count += partitions[index].ids.count
    }
    var excess = 0
    if count > limits.rememberedIDs {
      // A little more at once: not every change is followed by a fact that forgets.
      excess = count - limits.rememberedIDs + limits.rememberedIDs / 1_024
    }
    var last = [Ordinal?](repeating: nil, count: partitions.count)
    var next = [Int](repeating: 0, count: partitions.count)
    var oldest = Heap<Candidate>()
    for index in partitions.indices {
      // An hour of a day late, so that a quiet partition is not asked for each single id.
      if let first = partitions[index].ids.oldest, excess > 0 || isLongOver(first, at: now) {
        oldest.insert(Candidate(at: first.at, partition: index))
      }
    }
    var left = DedupWindow.forgottenAtOnce
    while left > 0, let candidate = oldest.popMin() {
      let index = candidate.partition
      guard let item = partitions[index].ids[next[index]],
        excess > 0 || item.at + limits.rememberedFor <= now
      else { continue }
      (excess, left) = (excess - 1, left - 1)
      last[index] = item.ordinal
      next[index] += 1
      if let following = partitions[index].ids[next[index]] {
        oldest.insert(Candidate(at: following.at, partition: index))
      }
    }
    for index in partitions.indices {
      guard let ordinal = last[index] else { continue }
      partitions[index].ids.askedToForget()
      effects.append(.journal(partitions[index].id, .forget(through: ordinal)))
    }
  }

  private func isLongOver(_ item: Remembered, at now: Instant) -> Bool {
    let late = Span(milliseconds: limits.rememberedFor.milliseconds / 24)
    return item.at + limits.rememberedFor + late <= now
  }

  private struct Candidate: Comparable {
    var at: Instant
    var partition: Int

    static func < (left: Candidate, right: Candidate) -> Bool {
      (left.at, left.partition) < (right.at, right.partition)
    }
  }
}
