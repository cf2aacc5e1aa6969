import OrderedCollections

extension Partition {
  /// From the tables; the journal's tail is stepped next, then `recovered` is called once.
  package init(_ tables: PartitionTables, limits: Limits, policy: WakePolicy) {
    self.init(id: tables.id, limits: limits, policy: policy)
    stepped = tables.cursor
    folded = tables.cursor
    cutTo = tables.cursor
    for row in tables.subscriptions { load(row) }
    for row in tables.devices { load(row, isExact: tables.wasStopped) }
    for row in tables.grants { load(row) }
    for row in tables.revocations {
      let key = ZoneKey(scope: row.scope, zone: row.zone)
      grants[key, default: ZoneGrants()].lastRevocation = row.last
    }
    for row in tables.members.sorted(by: { $0.serial < $1.serial }) { load(row) }
    for item in tables.remembered.sorted(by: { $0.ordinal < $1.ordinal }) {
      _ = memory.remember(item)
    }
    for item in tables.heard { heard[item.hearing] = item.serial }
    for out in tables.fanOuts.sorted(by: { $0.origin < $1.origin }) {
      fanOuts[out.origin] = out
      fanOutBytes += out.change.footprint
    }
    for row in tables.outbox where row.key.target == id {
      let track = Track(of: row.key.serial)
      lastToSelf[track] = max(lastToSelf[track] ?? .zero, row.key.serial)
    }
    for row in tables.numbers { load(row) }
    isRestoreProven = tables.isRestoreProven
    expired = tables.expired
    for row in tables.interests {
      interests[row.interest.key, default: [:]][row.source] = row.interest.fields
    }
    // What they say was told with the facts that made them so.
    for key in interestsChanged {
      let fields = ownInterests[key]?.fields ?? .ended
      ownInterests[key]?.told = fields
    }
    interestsChanged = []
    for row in tables.badges {
      guard let user = users.find(row.key.user, in: row.key.scope) else { continue }
      badges[user, default: [:]][row.key.topic] = row.count
    }
  }

  private mutating func load(_ row: SubscriptionRow) {
    let user = users.intern(row.user, in: row.scope)
    let held = SubscriptionIndex.Held(serial: row.serial, subscription: row.subscription)
    index.save(held, of: user, in: row.scope)
    subscribed(row.subscription, in: row.scope)
  }

  private mutating func load(_ row: DeviceRow, isExact: Bool) {
    let user = users.intern(row.key.user, in: row.key.scope)
    var slot = Devices.Slot(
      user: user, client: row.key.client, address: row.address, registeredAt: row.registeredAt,
      registration: row.registration, lane: Lane(row.lane, folded: folded, isExact: isExact))
    slot.lane.registered(withProvider: row.address.transport != .courier)
    let device = devices.insert(slot)
    let pending = Int64(slot.lane.pending.deliveries)
    ledger.recovered += pending
    ledger.pending += pending
    if row.lane.slot > .zero { recoverSlot(of: device) }
    watchAddress(of: device)
    stir(device)
  }

  private mutating func load(_ row: GrantRow) {
    grants[ZoneKey(scope: row.scope, zone: row.zone), default: ZoneGrants()]
      .activate(row.participant, in: .home(of: row.participant, in: row.scope))
  }

  private mutating func load(_ row: MemberRow) {
    let user = users.intern(row.key.participant, in: row.key.scope)
    let key = ZoneKey(scope: row.key.scope, zone: row.key.zone)
    members[key, default: []].append(Member(serial: row.serial, user: user))
    memberships[user, default: 0] += 1
  }
}
