/// A lane's slot in a smear. A lane has at most one slot: zones that become hot later use the same
/// slot.
extension Lane {
  /// Whether the subject is fresh and waits for the slot. No wake is sent for the subject before
  /// the slot.
  package func isHeld(_ subject: Pending, at now: Instant) -> Bool {
    subject.isFresh && isWaiting(subject, at: now)
  }

  /// Whether the device must not fetch the subject before the slot. The payload states the slot's
  /// time.
  package func isWaiting(_ subject: Pending, at now: Instant) -> Bool {
    subject.isHot && slot > now
  }

  /// When something fresh may be told: now, or at the slot if everything fresh is hot.
  func opens(at now: Instant) -> Instant {
    hasNews(at: now) ? now : max(slot, now)
  }

  /// Whether the lane is due, and everything that is due waits for the slot.
  func isAllHeld(at now: Instant) -> Bool {
    guard case .due = state, slot > now, pending.alerts.isEmpty else { return false }
    return !hasNews(at: now)
  }

  /// Whether the lane has a new change that may be told now.
  func hasNews(at now: Instant) -> Bool {
    pending.subjects.contains { $0.isFresh && !isWaiting($0, at: now) }
  }

  /// Whether the lane has a new and folded change that may be told now.
  func hasNewsToTell(_ folded: Ordinal, at now: Instant) -> Bool {
    pending.subjects.contains {
      $0.isFresh && $0.mayBeTold(folded) && !isWaiting($0, at: now)
    }
  }

  /// The subject that a background wake shows: the newest fresh one that does not wait for the
  /// slot; otherwise the newest fresh one; otherwise the newest one.
  func newest(of subjects: [Pending], at now: Instant) -> Pending? {
    let fresh = subjects.filter(\.isFresh)
    let open = fresh.filter { !isWaiting($0, at: now) }
    return [open, fresh, subjects].first { !$0.isEmpty }?
      .max { $0.position < $1.position }
  }

  /// Whether a hot change gives the lane a new slot. The change gives no slot while the lane's slot
  /// is still to come, or while an earlier hot change is fresh: a lane that missed its slot does
  /// not move to the end of the smear with each further change.
  package func needsSlot(at now: Instant) -> Bool {
    if case .retired = state { return false }
    return slot <= now && !pending.subjects.contains { $0.isHot && $0.isFresh }
  }

  /// The first zone that has a fresh hot change. Several zones may wait for the lane's one slot.
  var hotZone: ZoneID? {
    pending.subjects.first { $0.isHot && $0.isFresh }?.content.zone
  }

  /// The hot zone in whose smear a late lane gets a new slot. `nil` means that the lane gets no new
  /// slot: the lane is not late, already got a new slot for being late, must repeat what the
  /// courier told, or has something to tell that is not hot.
  package func lateZone(at now: Instant) -> ZoneID? {
    guard slot > .zero, slot + WakePacer.lateAfter <= now, !isSentBack, !isFallbackDue(at: now),
      pending.subjects.allSatisfy({ $0.isHot || !$0.isFresh })
    else { return nil }
    return hotZone
  }

  /// - Parameter isSentBack: whether the lane was late for its slot. Such a lane gets no further
  ///   new slot before a background wake is delivered.
  package mutating func wait(for slot: Instant, isSentBack: Bool) {
    self.slot = slot
    self.isSentBack = isSentBack
  }

  /// Moves the slot, because the rate of its smear has changed.
  mutating func stretchSlot(by stretch: WakePacer.Stretch) { slot = stretch.apply(to: slot) }

  /// The time from which the ladder counts. If a wake told of a hot zone before the slot, the
  /// device fetches the zone only from the slot on, so the ladder counts from the slot.
  var ladderFrom: Instant {
    pending.subjects.contains { $0.isHot } ? max(lastWake, slot) : lastWake
  }
}
