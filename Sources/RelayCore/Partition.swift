/// A share of the users, chosen by a hash, with all that is theirs: one state machine with one
/// journal.
///
/// `step` takes the facts in journal order, and only `step` changes what feeds show; the other
/// inputs change lanes. A partition is deterministic: the same tables, facts and instants give the
/// same effects, byte for byte, so recovery is a replay.
package struct Partition: Sendable {
  package let id: PartitionID
  let limits: Limits
  private(set) var policy: WakePolicy
  package internal(set) var progress: Progress
  var ledgers = Ledgers()

  var ids = DedupWindow()
  var sequences = ZoneSequences()
  var users = Users()
  var index = SubscriptionIndex()
  var interests = Interests()
  var sharing = ZoneSharing()
  var fanOuts = FanOutQueue()
  var messages: Messages
  var feeds: FeedBuffers
  var expiries = ForcedExpiries()
  var devices = Devices()
  var badges = Badges()
  var wakes = WakeScheduler()
  var pacers: WakePacers
  var trace: TraceBuffer

  /// How far a partition has come in its journal, and at which cost.
  package struct Progress: Hashable, Sendable {
    /// The last fact stepped.
    package var stepped = Ordinal.zero
    /// The last fact in the last cut.
    package var cut = Ordinal.zero
    /// The last fact that a durable fold contains.
    package var folded = Ordinal.zero
    /// The cost of all steps since start, in units of one examined subscription, filter, list
    /// member or word. The coordinator uses this cost to bound the work of a turn.
    package var work = 0
  }

  /// The account of the apps' devices.
  package var ledger: Ledger { ledgers.apps }
  package internal(set) var work: Int {
    get { progress.work }
    set { progress.work = newValue }
  }
  package var stepped: Ordinal { progress.stepped }
  package var folded: Ordinal { progress.folded }

  /// Creates a partition from its tables. The caller then steps the journal's tail, and calls
  /// `Relay.recovered` once.
  ///
  /// - Parameter isTraced: whether entries for the flight recorder are made.
  package init(
    _ tables: PartitionTables, limits: Limits, policy: WakePolicy, isTraced: Bool = false
  ) {
    (id, self.limits, self.policy) = (tables.id, limits, policy)
    let cursor = tables.cursor
    progress = Progress(stepped: cursor, cut: cursor, folded: cursor)
    messages = Messages(loading: tables)
    feeds = FeedBuffers(limits: limits)
    pacers = WakePacers(of: tables.id)
    fanOuts = FanOutQueue(loading: tables.fanOuts)
    expiries = ForcedExpiries(loading: tables)
    trace = TraceBuffer(isOn: isTraced)
    load(tables)
  }

  /// Takes new rules. Later calls of `markOutdated` mark every lane, and marked lanes are evaluated
  /// anew.
  package mutating func reconfigure(_ policy: WakePolicy, at now: Instant) {
    let before = self.policy.smearing
    self.policy = policy
    stretchSlots(from: before, at: now)
    wakes.rulesChanged(slots: devices.slotCount)
  }
}

// MARK: Loading

extension Partition {
  private mutating func load(_ tables: PartitionTables) {
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

// MARK: Folding

extension Partition {
  /// Whether a fold would write something.
  package var isDirty: Bool {
    stepped > progress.cut || feeds.isDirty || devices.isDirty || index.isDirty || messages.isDirty
      || ids.isDirty || sequences.isDirty || sharing.isDirty || interests.isDirty
      || fanOuts.isDirty || badges.isDirty || expiries.isDirty
  }

  /// An upper bound of the entries that the next cut brings into feeds.
  package var uncut: Int { feeds.entries }

  /// Takes everything not yet in a cut, at one moment. The caller keeps the cut until it is durable
  /// and then calls `folded`; after a failed fold the caller tries again with the same cut.
  package mutating func cut() -> PartitionCut {
    var cut = PartitionCut(id: id, cursor: stepped)
    feeds.drain(into: &cut)
    index.drain(into: &cut)
    devices.drain(into: &cut, of: users)
    sharing.drain(into: &cut)
    ids.drain(into: &cut)
    messages.drain(into: &cut)
    sequences.drain(into: &cut)
    fanOuts.drain(into: &cut)
    interests.drain(into: &cut)
    badges.drain(into: &cut)
    expiries.drain(into: &cut)
    progress.cut = stepped
    return cut
  }

  /// The last cut is durable, so the lanes that wait for a fold are evaluated.
  package mutating func folded(at now: Instant) -> [ReadyLane] {
    progress.folded = progress.cut
    devices.folded(to: folded, ledgers: &ledgers)
    var ready: [ReadyLane] = []
    for device in wakes.takeAwaitingFold() where devices.contains(device) {
      evaluate(device, at: now, &ready)
    }
    return ready
  }
}
