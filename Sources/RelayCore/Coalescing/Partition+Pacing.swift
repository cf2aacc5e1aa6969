/// Hot changes: which devices get a slot, and when.
extension Partition {
  /// Whether a change is hot. The matches of the change are not counted yet, so this function
  /// counts them, but no more of them than the decision needs.
  func isHot(_ out: FanOut) -> Bool {
    guard policy.smearing.gap(capacity: out.change.fetchCapacity) != nil else { return false }
    let share = policy.smearing.aboveHere
    guard out.change.database != .public else {
      let page = index.publicMatches(
        out.change, after: .zero, before: out.origin, limit: share + 1)
      return page.next != nil || Set(page.hits.map(\.user)).count > share
    }
    var count = 0
    for member in sharing.members(of: out.change.zoneKey) {
      let held = index.matches(out.change, in: .shared, of: member.user, before: out.origin)
      if !held.isEmpty { count += 1 }
      if count > share { return true }
    }
    return false
  }

  /// A hot change matched this device. The device gets a slot, unless its slot is still to come or
  /// an earlier hot change is still fresh. Further changes do not move the slot.
  mutating func giveSlot(
    to device: Int, of change: Change, gap: Int64, at now: Instant
  ) {
    guard devices[device].lane.needsSlot(at: now) else { return }
    let slot = pacers.take(
      of: change.zoneKey, from: now + policy.window, at: now, gap: gap,
      longest: policy.smearing.longest, capacity: change.fetchCapacity)
    devices[device].lane.wait(for: slot, isSentBack: false)
  }

  /// Gives a late lane a new slot in the smear of its hot zone. A lane is late if its attempt would
  /// begin `WakePacer.lateAfter` or more after its slot. A lane that `Lane.isSentBack` marks gets
  /// no other slot for being late.
  ///
  /// - Returns: true if the lane must wait for the new slot.
  mutating func isSentBack(_ device: Int, at now: Instant) -> Bool {
    guard let key = key(devices[device].lane.lateZone(at: now), of: device) else { return false }
    let capacity = pacers.capacity(of: key)
    guard let gap = policy.smearing.gap(capacity: capacity) else { return false }
    let slot = pacers.take(
      of: key, from: now, at: now, gap: gap, longest: policy.smearing.longest, capacity: capacity)
    devices[device].lane.wait(for: slot, isSentBack: true)
    return slot > now
  }

  /// The zone in the scope of the device.
  private func key(_ zone: ZoneID?, of device: Int) -> ZoneKey? {
    zone.map { ZoneKey(scope: users[devices[device].user].scope, zone: $0) }
  }

  /// Adds the slot that a lane got before a restart to the smear of the lane's hot zone. The next
  /// free slot of the smear is then not before the added slot.
  mutating func recoverSlot(of device: Int) {
    let lane = devices[device].lane
    if let key = key(lane.hotZone, of: device) { pacers.recovered(lane.slot, of: key) }
  }

  /// After a new rule for smears, moves the slots of waiting lanes closer or further away, in the
  /// proportion of the old rate to the new rate. The move alone does not cause a write, so after a
  /// crash the old slots apply again.
  mutating func stretchSlots(from old: WakePacer.Rule, at now: Instant) {
    guard old != policy.smearing else { return }
    let stretches = pacers.stretch(from: old, to: policy.smearing, at: now)
    guard !stretches.isEmpty else { return }
    for device in devices.counts.slotted {
      let lane = devices[device].lane
      guard lane.slot > now, let key = key(lane.hotZone, of: device),
        let stretch = stretches[key]
      else { continue }
      devices[device].lane.stretchSlot(by: stretch)
    }
  }
}
