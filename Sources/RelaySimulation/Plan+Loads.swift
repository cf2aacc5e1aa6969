import RelayCore

extension Plan {
  /// Removes all loads, as if the seed had chosen none: without loads a planted bug is found
  /// sooner.
  mutating func dropLoads() {
    relay = RelaySettings()
    limits.forwardedMessages = Limits().forwardedMessages
    for rate in [Rate.batches, .largeRecords, .crowd, .wrongClocks] { self[rate] = 0 }
    commitBytes = .max
  }

  /// Chooses loads with a random generator of its own: requests of many changes, large records,
  /// many subscribers, a store that takes no large commit, a wall clock that is wrong by a day or
  /// more, and bounds that a small world reaches.
  mutating func chooseLoads(_ seed: UInt64) {
    var draw = SeededRandom(seed: seed ^ 0x6c6c)
    guard draw.below(2) == 0 else { return }
    relay.work.commit.facts = draw.pick([1, 4, 1_024])
    relay.work.commit.bytes = draw.pick([600, 8_000, 2 << 20])
    relay.work.entriesForReader = draw.pick([1, 8, 1_000])
    relay.work.workPerTurn = draw.pick([8, 64, 128 << 10])
    relay.work.entriesOfLarge = draw.pick([1, 4, 256])
    relay.work.entriesForSlices = draw.pick([1, 8, 4_000])
    relay.journalTailMax = draw.pick([8, 100, 1_000_000])
    relay.entriesUncutMax = draw.pick([8, 100, 500_000])
    relay.answerWithin = .seconds(draw.pick([2, 20]))
    limits.forwardedMessages = draw.pick([2, 20, 100_000])
    self[.batches] = draw.pick([0, 200, 600])
    batchMax = draw.pick([2, 10, 60])
    if draw.below(40) == 0 { batchMax = 2_000 }
    self[.largeRecords] = draw.pick([0, 100, 500])
    largeBytesMax = draw.pick([2_000, 40_000, 1 << 20])
    commitBytes = draw.pick([.max, 30_000, 8_000])
    self[.crowd] = draw.pick([0, 0, 20])
    if draw.below(20) == 0 { self[.crowd] = 300 }
    self[.wrongClocks] = draw.pick([0, 300, 1_000])
  }
}
