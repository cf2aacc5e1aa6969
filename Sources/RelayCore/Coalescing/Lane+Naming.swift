/// What a wake names: all that the device has still to fetch, whatever the wake is about.
extension Lane {
  /// The zones among it, those for which a wake goes out first. A device that never acknowledges
  /// is told only what no wake has told its app yet.
  ///
  /// - Parameter pending: what of it a reader who comes at once would find.
  /// - Returns: at most as many as pend at one time, and whether there are more.
  func zones(
    toldOf pending: PendingSet, at now: Instant, limits: Limits
  ) -> (named: [Pending], isCut: Bool) {
    let waking =
      pending.zones.filter { $0.isFresh && !isWaiting($0, at: now) }
      + pending.zones.filter { isHeld($0, at: now) }
      + pending.zones.filter { !$0.isFresh && names($0) }
    let known = Set(waking.map(\.notice.place))
    let all = waking + pending.quiet.zones.filter { !known.contains($0.notice.place) }
    return (Array(all.prefix(limits.zonesPending)), all.count > limits.zonesPending)
  }
}
