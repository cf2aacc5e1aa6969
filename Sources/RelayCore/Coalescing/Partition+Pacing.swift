/// Hot changes: who gets a slot, and when.
extension Partition {
  /// Before a change goes on in slices, nobody has counted whom it matches: looks at no more than
  /// decides it.
  func isHot(_ out: FanOut) -> Bool {
    guard policy.smearing.gap(capacity: out.change.fetchCapacity) != nil else { return false }
    let share = policy.smearing.aboveHere
    guard out.change.database != .public else {
      let page = index.publicMatches(
        out.change, after: .zero, before: out.origin, limit: share + 1)
      return page.next != nil || Set(page.hits.map(\.user)).count > share
    }
    var count = 0
    for member in sharing.members(of: zoneKey(of: out.change)) {
      let held = index.matches(out.change, in: .shared, of: member.user, before: out.origin)
      if !held.isEmpty { count += 1 }
      if count > share { return true }
    }
    return false
  }

  /// A hot change matched this device: it has a slot from now on, unless it waits already. Further
  /// changes do not move it back.
  mutating func giveSlot(
    to device: Int, of change: Change, gap: Int64, at now: Instant
  ) {
    guard devices[device].lane.needsSlot(at: now) else { return }
    let slot = takeSlot(
      of: zoneKey(of: change), from: now + policy.window, at: now, gap: gap,
      capacity: change.fetchCapacity)
    devices[device].lane.wait(for: slot, isSentBack: false)
  }

  /// Sends a lane that is late back into its zone's line, once.
  ///
  /// - Returns: true if it is not its turn now.
  mutating func isSentBack(_ device: Int, at now: Instant) -> Bool {
    guard let zone = devices[device].lane.lateZone(at: now) else { return false }
    let key = ZoneKey(scope: users[devices[device].user].scope, zone: zone)
    let capacity = pacers.capacity(of: key)
    guard let gap = policy.smearing.gap(capacity: capacity) else { return false }
    let slot = takeSlot(of: key, from: now, at: now, gap: gap, capacity: capacity)
    devices[device].lane.wait(for: slot, isSentBack: true)
    return slot > now
  }

  private mutating func takeSlot(
    of zone: ZoneKey, from earliest: Instant, at now: Instant, gap: Int64, capacity: Int
  ) -> Instant {
    pacers.take(
      of: zone, from: earliest, at: now, gap: gap, longest: policy.smearing.longest,
      capacity: capacity)
  }

  /// A lane of an earlier life waits: others line up behind it.
  mutating func recoverSlot(of device: Int) {
    let lane = devices[device].lane
    guard let zone = lane.hotZone else { return }
    let key = ZoneKey(scope: users[devices[device].user].scope, zone: zone)
    pacers.recovered(lane.slot, of: key)
  }

  /// What waits comes sooner or later in the proportion of the rates. Not written for its own sake:
  /// after a crash the old slots hold.
  mutating func stretchSlots(from old: WakePacer.Rule, at now: Instant) {
    guard old != policy.smearing else { return }
    let stretches = pacers.stretch(from: old, to: policy.smearing, at: now)
    guard !stretches.isEmpty else { return }
    for device in devices.counts.slotted {
      guard devices[device].lane.slot > now, let zone = devices[device].lane.hotZone else {
        continue
      }
      let key = ZoneKey(scope: users[devices[device].user].scope, zone: zone)
      guard let stretch = stretches[key] else { continue }
      devices[device].lane.slot = stretch.apply(to: devices[device].lane.slot)
    }
  }
}
