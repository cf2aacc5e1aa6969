import OrderedCollections

extension Partition {
  /// Something that a fold would write.
  package var isDirty: Bool {
    !rows.isEmpty || !buffers.isEmpty || stepped > cutTo || fanOuts.isDirty || sequences.isDirty
      || badges.isDirty || interests.isDirty || sharing.isDirty
  }

  /// Copies everything not yet in a cut, at one moment. The caller keeps the cut until it is
  /// durable and then says `folded`; a failed fold is tried again with the same cut.
  package mutating func cut() -> PartitionCut {
    var cut = PartitionCut(id: id, cursor: stepped)
    cut.feeds = buffers.map { feed, buffer in
      var buffer = buffer
      if feed.isBounded { buffer.trim(to: limits.notificationsPerUser) }
      return FeedCut(
        feed: feed, cleared: buffer.cleared, floor: buffer.floor, gap: buffer.gap,
        deltas: buffer.deltas.map { SubjectDelta(subject: $0.key, delta: $0.value) },
        marks: buffer.marks.merged, trimmed: buffer.trimmed)
    }
    cut.subscriptions = rows.subscriptions.values.compactMap(\.self)
    cut.subscriptionsRemoved = rows.subscriptions.filter { $0.value == nil }.map(\.key)
    cut.devices = rows.devices.filter { devices.contains($0) }.map { row(of: $0) }
    cut.devicesRemoved = rows.devicesRemoved.elements
    sharing.drain(into: &cut)
    cut.remembered = rows.remembered
    cut.forgotten = rows.forgotten
    cut.outbox = rows.outbox
    cut.delivered = rows.delivered
    cut.heard = rows.heard.sorted().map { Heard(source: $0.source, serial: heard[$0] ?? .zero) }
    sequences.drain(into: &cut)
    fanOuts.drain(into: &cut)
    interests.drain(into: &cut)
    badges.drain(into: &cut)
    cut.expiries = rows.expiries
    cut.isRestoreProven = rows.isRestoreProven
    cut.feedback = rows.feedback
    inCut = rows.devices.elements
    rows = RowChanges()
    buffers = [:]
    uncut = 0
    cutTo = stepped
    return cut
  }

  private mutating func row(of device: Int) -> DeviceRow {
    let record = devices[device].lane.record()
    let slot = devices[device]
    return DeviceRow(
      key: key(of: device), address: slot.address, registeredAt: slot.registeredAt,
      registration: slot.registration, lane: record)
  }

  /// The last cut is durable: lanes that waited for it are asked again.
  package mutating func folded(at now: Instant) -> [ReadyLane] {
    folded = cutTo
    for device in inCut where devices.contains(device) {
      devices[device].lane.folded(to: folded, ledger: &ledger)
    }
    inCut = []
    let waited = awaitingFold
    awaitingFold = []
    var ready: [ReadyLane] = []
    for device in waited where devices.contains(device) {
      devices[device].isAwaitingFold = false
      consider(device, at: now, &ready)
    }
    return ready
  }
}

extension RowChanges {
  var isEmpty: Bool {
    subscriptions.isEmpty && devices.isEmpty && devicesRemoved.isEmpty && remembered.isEmpty
      && outbox.isEmpty
      && delivered.isEmpty && heard.isEmpty && expiries.isEmpty
      && isRestoreProven == nil && feedback.isEmpty
  }
}
