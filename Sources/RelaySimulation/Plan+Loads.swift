import RelayCore

extension Plan {
  /// Removes all loads, as if the seed had chosen none: without loads a planted bug is found
  /// sooner.
  mutating func dropLoads() {
    let settings = RelaySettings()
    work = WorkBounds()
    (journalTailMax, entriesUncutMax) = (settings.journalTailMax, settings.entriesUncutMax)
    answerWithin = settings.answerWithin
    limits.forwardedMessages = Limits().forwardedMessages
    (batches, large.records, crowd, wrongClocks) = (0, 0, 0, 0)
    commitBytes = .max
  }

  /// Chooses loads with a random generator of its own: requests of many changes, large records,
  /// many subscribers, a store that takes no large commit, a wall clock that is far off, and bounds
  /// that a small world reaches.
  mutating func chooseLoads(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x6c6c)
    guard draw.below(2) == 0 else { return }
    work.commit.facts = draw.pick([1, 4, 1_024])
    work.commit.bytes = draw.pick([600, 8_000, 2 << 20])
    work.entriesForReader = draw.pick([1, 8, 1_000])
    work.workPerTurn = draw.pick([8, 64, 128 << 10])
    work.entriesOfLarge = draw.pick([1, 4, 256])
    work.entriesForSlices = draw.pick([1, 8, 4_000])
    journalTailMax = draw.pick([8, 100, 1_000_000])
    entriesUncutMax = draw.pick([8, 100, 500_000])
    answerWithin = .seconds(draw.pick([2, 20]))
    limits.forwardedMessages = draw.pick([2, 20, 100_000])
    batches = draw.pick([0, 200, 600])
    batchMax = draw.pick([2, 10, 60])
    if draw.below(40) == 0 { batchMax = 2_000 }
    large.records = draw.pick([0, 100, 500])
    large.bytesMax = draw.pick([2_000, 40_000, 1 << 20])
    commitBytes = draw.pick([.max, 30_000, 8_000])
    crowd = draw.pick([0, 0, 20])
    if draw.below(20) == 0 { crowd = 300 }
    wrongClocks = draw.pick([0, 300, 1_000])
  }
}
