/// A lane's slot in a smear. It has one at a time: what else becomes hot meanwhile is told with it.
extension Lane {
  /// What is new of a hot zone is not told for its own sake before the slot.
  package func isHeld(_ subject: Pending, at now: Instant) -> Bool {
    subject.isFresh && isWaiting(subject, at: now)
  }

  /// Fetched only from the slot on, as a payload says.
  package func isWaiting(_ subject: Pending, at now: Instant) -> Bool {
    subject.isHot && slot > now
  }

  /// When what is new may be told: at once, unless all of it is of hot zones.
  func opens(at now: Instant) -> Instant {
    for subject in pending.subjects where subject.isFresh && !isWaiting(subject, at: now) {
      return now
    }
    return max(slot, now)
  }

  /// It is due, and all that is due waits for the slot.
  func isAllHeld(at now: Instant) -> Bool {
    guard case .due = state, slot > now, pending.alerts.isEmpty else { return false }
    return !hasNews(at: now)
  }

  /// Something new may be told now.
  func hasNews(at now: Instant) -> Bool {
    pending.subjects.contains { $0.isFresh && !isWaiting($0, at: now) }
  }

  /// The same, as far as it is folded.
  func hasTellableNews(_ folded: Ordinal, at now: Instant) -> Bool {
    pending.subjects.contains {
      $0.isFresh && $0.isTellable(folded) && !isWaiting($0, at: now)
    }
  }

  /// What a background wake shows: of what is new rather that for which it goes out now.
  func newest(of subjects: [Pending], at now: Instant) -> Pending? {
    let fresh = subjects.filter(\.isFresh)
    let open = fresh.filter { !isWaiting($0, at: now) }
    return [open, fresh, subjects].first { !$0.isEmpty }?
      .max { $0.position < $1.position }
  }

  /// A device that waits keeps its slot; one whose slot has come and that could not be woken yet
  /// does not go back to the end.
  package func needsSlot(at now: Instant) -> Bool {
    if case .retired = state { return false }
    return slot <= now && !pending.subjects.contains { $0.isHot && $0.isFresh }
  }

  /// Of what waits for the slot; several zones wait for one.
  var hotZone: ZoneID? {
    pending.subjects.first { $0.isHot && $0.isFresh }?.notice.zone
  }

  /// The zone into whose line it goes back; nil if it is not late, or was sent back before.
  package func lateZone(at now: Instant) -> ZoneID? {
    guard slot > .zero, slot + WakePacer.lateAfter <= now, !isSentBack, !isGraceOver(at: now),
      pending.subjects.allSatisfy({ $0.isHot || !$0.isFresh })
    else { return nil }
    return hotZone
  }

  /// - Parameter isSentBack: it was late, and is not sent back again before it has been woken.
  package mutating func wait(for slot: Instant, isSentBack: Bool) {
    self.slot = slot
    self.isSentBack = isSentBack
  }

  /// A wake told early of a hot zone, and the device waits for the slot before it fetches: the
  /// ladder counts from there.
  var ladderFrom: Instant {
    pending.subjects.contains { $0.isHot } ? max(lastWake, slot) : lastWake
  }
}
