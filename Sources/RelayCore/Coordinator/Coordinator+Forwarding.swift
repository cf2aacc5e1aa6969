/// Messages between partitions, and changes that go on in slices.
extension Coordinator {
  /// Journals messages from other partitions in their target partitions.
  mutating func deliverForwards() {
    guard !forwarding.isEmpty else { return }
    var targets: [GroupCommit.Waiting] = []
    var last: Forwarded.Message?
    for row in forwarding.take(for: relay) {
      if row.message != last {
        commit.add(message: targets)
        targets = []
      }
      last = row.message
      let forwarded = Forwarded(
        source: row.source, serial: row.key.serial, message: row.message)
      targets.append(
        GroupCommit.Waiting(
          partition: row.key.target, fact: .forwarded(forwarded),
          origin: .forward(row.key, from: row.source)))
    }
    if !targets.isEmpty { reach(.messagesDelivered) }
    if !forwarding.isEmpty { reach(.messageHeldForRoom) }
    commit.add(message: targets)
  }

  /// Journals the next slice of a wide change, if folds have kept up. No slice begins while the
  /// daemon stops; the wide change continues after the next start.
  mutating func startSlice() {
    guard !isStopping, !pacer.isEmpty else { return }
    guard let next = pacer.next(entries: relay.uncutEntries) else {
      if !pacer.isUnderWay { reach(.sliceHeldForFold) }
      return
    }
    reach(.sliceStarted)
    commit.add(GroupCommit.Waiting(partition: next.partition, fact: next.slice, origin: .none))
  }

  /// Reports a hot change that exceeds its smear's rate, at most once in ten minutes, because each
  /// partition reports it again with each slice.
  mutating func hurried(_ scope: Scope, at now: Instant) {
    guard counters.hurried.map({ $0 + .minutes(10) <= now }) ?? true else { return }
    counters.hurried = now
    actions.append(.event(.hurried(scope)))
  }
}
