extension Partition {
  /// Whether a fold would write something.
  package var isDirty: Bool {
    stepped > progress.cut || feeds.isDirty || devices.isDirty || index.isDirty || messages.isDirty
      || ids.isDirty || sequences.isDirty || sharing.isDirty || interests.isDirty
      || fanOuts.isDirty || badges.isDirty || expiries.isDirty
  }

  /// An upper bound of the entries that the next cut brings into feeds.
  package var uncut: Int { feeds.entries }

  /// Takes everything not yet in a cut, at one moment. The caller keeps the cut until it is durable
  /// and then calls `folded`; after a failed fold the caller tries again with the same cut.
  package mutating func cut() -> PartitionCut {
    var cut = PartitionCut(id: id, cursor: stepped)
    feeds.drain(into: &cut)
    index.drain(into: &cut)
    devices.drain(into: &cut, of: users)
    sharing.drain(into: &cut)
    ids.drain(into: &cut)
    messages.drain(into: &cut)
    sequences.drain(into: &cut)
    fanOuts.drain(into: &cut)
    interests.drain(into: &cut)
    badges.drain(into: &cut)
    expiries.drain(into: &cut)
    progress.cut = stepped
    return cut
  }

  /// The last cut is durable, so the lanes that waited for this cut are evaluated.
  package mutating func folded(at now: Instant) -> [ReadyLane] {
    progress.folded = progress.cut
    devices.folded(to: folded, ledgers: &ledgers)
    var ready: [ReadyLane] = []
    for device in wakes.takeAwaitingFold() where devices.contains(device) {
      evaluate(device, at: now, &ready)
    }
    return ready
  }
}
