extension Partition {
  mutating func load(_ tables: PartitionTables) {
    for row in tables.subscriptions { load(row) }
    for row in tables.devices { load(row, from: tables) }
    for row in tables.grants { sharing.load(row) }
    for row in tables.revocations { sharing.load(row) }
    for row in tables.members.sorted(by: { $0.serial < $1.serial }) { load(row) }
    for item in tables.remembered.sorted(by: { $0.ordinal < $1.ordinal }) { ids.load(item) }
    for row in tables.numbers { sequences.load(row, limits: limits) }
    for row in tables.interests { interests.load(row) }
    interests.loaded()
    for row in tables.badges {
      guard let user = users.find(row.key.user, in: row.key.scope) else { continue }
      badges.load(row.count, row.key.topic, of: user)
    }
  }

  private mutating func load(_ row: SubscriptionRow) {
    let user = users.intern(row.user, in: row.scope)
    let held = SubscriptionIndex.Held(serial: row.serial, subscription: row.subscription)
    index.save(held, of: user, in: row.scope)
    interests.add(row.subscription, in: row.scope)
  }

  private mutating func load(_ row: DeviceRow, from tables: PartitionTables) {
    let user = users.intern(row.key.user, in: row.key.scope)
    var slot = Devices.Slot(
      user: user, client: row.key.client, address: row.address, registeredAt: row.registeredAt,
      registration: row.registration,
      lane: Lane(row.lane, folded: folded, since: tables.time, isExact: tables.wasStopped))
    slot.account = Ledgers.Account(of: row.key.user)
    slot.lane.registered(withProvider: row.address.transport != .courier)
    let device = devices.insert(slot)
    let pending = Int64(slot.lane.pending.deliveries)
    ledgers[slot.account].recovered += pending
    ledgers[slot.account].pending += pending
    if row.lane.slot > .zero { recoverSlot(of: device) }
    devices.watchAddress(of: device, limits)
    if slot.lane.holdsAnything { trace.waitsSinceBefore(device) }
    markDirty(device)
  }

  private mutating func load(_ row: MemberRow) {
    let user = users.intern(row.key.participant, in: row.key.scope)
    let key = ZoneKey(scope: row.key.scope, zone: row.key.zone)
    sharing.load(user, key, row.serial)
  }
}
