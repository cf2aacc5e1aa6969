/// A lane's slot in a smear. A lane has at most one slot: zones that become hot later use it too.
extension Lane {
  /// Whether the subject is fresh and waits for the slot. No wake is sent for it before.
  package func isHeld(_ subject: Pending, at now: Instant) -> Bool {
    subject.isFresh && isWaiting(subject, at: now)
  }

  /// Whether the subject must not be fetched before the slot; the payload states this.
  package func isWaiting(_ subject: Pending, at now: Instant) -> Bool {
    subject.isHot && slot > now
  }

  /// When something fresh may be told: now, or at the slot if everything fresh is hot.
  func opens(at now: Instant) -> Instant {
    for subject in pending.subjects where subject.isFresh && !isWaiting(subject, at: now) {
      return now
    }
    return max(slot, now)
  }

  /// The lane is due, and everything that is due waits for the slot.
  func isAllHeld(at now: Instant) -> Bool {
    guard case .due = state, slot > now, pending.alerts.isEmpty else { return false }
    return !hasNews(at: now)
  }

  /// Whether the lane has a new change that may be told now.
  func hasNews(at now: Instant) -> Bool {
    pending.subjects.contains { $0.isFresh && !isWaiting($0, at: now) }
  }

  /// Whether the lane has a new and folded change that may be told now.
  func hasTellableNews(_ folded: Ordinal, at now: Instant) -> Bool {
    pending.subjects.contains {
      $0.isFresh && $0.isTellable(folded) && !isWaiting($0, at: now)
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

  /// Whether a hot change gives the lane a new slot. A lane that waits keeps its slot. A lane that
  /// could not be woken at its slot does not go back to the end.
  package func needsSlot(at now: Instant) -> Bool {
    if case .retired = state { return false }
    return slot <= now && !pending.subjects.contains { $0.isHot && $0.isFresh }
  }

  /// The first hot zone that waits for the slot. Several zones may wait for the same slot.
  var hotZone: ZoneID? {
    pending.subjects.first { $0.isHot && $0.isFresh }?.content.zone
  }

  /// The hot zone in whose smear a late lane gets a new slot; nil if the lane is not late, or was
  /// sent back before.
  package func lateZone(at now: Instant) -> ZoneID? {
    guard slot > .zero, slot + WakePacer.lateAfter <= now, !isSentBack, !isFallbackDue(at: now),
      pending.subjects.allSatisfy({ $0.isHot || !$0.isFresh })
    else { return nil }
    return hotZone
  }

  /// - Parameter isSentBack: the lane was late, and is not sent back again before it has been
  ///   woken.
  package mutating func wait(for slot: Instant, isSentBack: Bool) {
    self.slot = slot
    self.isSentBack = isSentBack
  }

  /// The smear that the slot belongs to has another rate.
  mutating func stretchSlot(by stretch: WakePacer.Stretch) { slot = stretch.apply(to: slot) }

  /// The time from which the ladder counts. If a wake told of a hot zone before the slot, the
  /// device fetches only from the slot on, so the ladder counts from the slot.
  var ladderFrom: Instant {
    pending.subjects.contains { $0.isHot } ? max(lastWake, slot) : lastWake
  }
}
