/// A wake names everything that the device still has to fetch, not only what caused the wake.
extension Lane {
  /// The zones that a wake names, beginning with those for which the wake is sent. For a device
  /// that never acknowledges, a wake names only what no wake has told the app yet.
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

  /// Whether wakes name the subject: the subject is fresh, or the device has acknowledged before,
  /// or only the courier has told the subject.
  package func names(_ subject: Pending) -> Bool {
    subject.isFresh || hasAcknowledged || fallback?.covers(subject) == true
  }
}

/// Which subjects of a lane a payload names.
struct WakeNaming {
  let lane: Lane
  let text: WakeText
  /// The zones in the payload.
  let places: Set<WakeText.NamedZone>
  let folded: Ordinal
  let overCourier: Bool
  let at: Instant

  /// The subject, as the trace writes it: a zone, the notifications feed, or the zones beyond the
  /// limit. `nil` if the payload does not name the subject.
  func part(of subject: Pending) -> TracedPart? {
    guard subject.mayBeTold(folded), !(overCourier && lane.isHeld(subject, at: at)) else {
      return nil
    }
    let (waking, quiet) = (lane.pending.waking, lane.pending.quiet)
    if (waking.overflow + quiet.overflow).contains(subject) { return text.isMore ? .many : nil }
    if (waking.query + quiet.query).contains(subject) { return text.hasQuery ? .query : nil }
    return places.contains(subject.content.place) ? subject.zonePart : nil
  }
}
