/// A wake names everything that the device still has to fetch, not only what caused the wake.
extension Lane {
  /// The zones that a wake names, beginning with those for which it is sent. A device that never
  /// acknowledges is told only what no wake has told its app yet.
  ///
  /// - Parameter pending: the pending subjects that a device finds if it reads at once.
  /// - Returns: at most `Limits.zonesPending` zones, and whether there are more.
  func zones(
    toldOf pending: PendingSet, at now: Instant, limits: Limits
  ) -> (named: [Pending], isCut: Bool) {
    let waking =
      pending.zones.filter { $0.isFresh && !isWaiting($0, at: now) }
      + pending.zones.filter { isHeld($0, at: now) }
      + pending.zones.filter { !$0.isFresh && names($0) }
    let known = Set(waking.map(\.content.place))
    let all = waking + pending.quiet.zones.filter { !known.contains($0.content.place) }
    return (Array(all.prefix(limits.zonesPending)), all.count > limits.zonesPending)
  }

  /// Whether wakes name the subject: it is fresh, or the device is one that acknowledges, or the
  /// device may not have processed the courier's wake.
  package func names(_ subject: Pending) -> Bool {
    subject.isFresh || hasAcknowledged || fallback?.covers(subject) == true
  }
}
