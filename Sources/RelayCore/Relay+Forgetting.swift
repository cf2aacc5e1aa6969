import HeapModule

/// All partitions share one bound on remembered event ids, so a hot zone may use all of it.
///
/// Ids that are too old are forgotten when the next change is stepped; the journalled time of that
/// change decides which ids are too old. Whether there are too many ids depends on all partitions.
/// A replay cannot decide whether there were too many ids, because in each partition the replay
/// begins where the partition's last fold ended. Therefore forgetting is a fact: a replay forgets
/// the same ids between the same changes, and so drops the same repeats.
extension Relay {
  /// Whether the change's id is remembered, so that its repeat is a duplicate.
  package func knows(_ change: Change) -> Bool {
    partitions[Int(change.home.number)].ids.contains(change.fingerprint)
  }

  /// Journals facts that make partitions forget ids: the oldest ids of all partitions while there
  /// are too many ids, and ids that are too old in partitions that get no new change. Each round is
  /// bounded, so that forgetting the ids of a busy hour does not delay the loop for long.
  mutating func forgetIDs(at now: Instant, into effects: inout [Effect]) {
    var count = 0
    for index in partitions.indices {
      // One round at a time: ids stay in the count until their `forget` fact is stepped.
      if partitions[index].ids.isForgetAsked { return }
      count += partitions[index].ids.count
    }
    var excess = 0
    if count > limits.rememberedIDs {
      // Forget some more than the excess, so that not every change is followed by a `forget` fact.
      excess = count - limits.rememberedIDs + limits.rememberedIDs / 1_024
    }
    var last = [Ordinal?](repeating: nil, count: partitions.count)
    var next = [Int](repeating: 0, count: partitions.count)
    var oldest = Heap<TimeOrdered<Int>>()
    for index in partitions.indices {
      // A partition may get a `forget` fact if there are too many ids, or if its oldest id has been
      // too old for at least 1/24 of `rememberedFor`. This delay lets one fact forget many ids of a
      // quiet partition.
      if let first = partitions[index].ids.oldest, excess > 0 || isLongOver(first, at: now) {
        oldest.insert(TimeOrdered(at: first.at, item: index))
      }
    }
    var left = DedupWindow.forgottenAtOnce
    while left > 0, let candidate = oldest.popMin() {
      let index = candidate.item
      guard let item = partitions[index].ids[next[index]],
        excess > 0 || item.at + limits.rememberedFor <= now
      else { continue }
      (excess, left) = (excess - 1, left - 1)
      last[index] = item.ordinal
      next[index] += 1
      if let following = partitions[index].ids[next[index]] {
        oldest.insert(TimeOrdered(at: following.at, item: index))
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
}
