import OrderedCollections

/// Registrations with their lanes, in reusable flat slots, and which of them the next cut writes.
package struct Devices: Sendable {
  package struct Slot: Sendable {
    package let user: Int
    package let client: ClientID
    package fileprivate(set) var address: Address
    package fileprivate(set) var registeredAt: Instant
    package fileprivate(set) var registration: Ordinal
    package var lane: Lane
    /// The account of the device's deliveries.
    package var account = Ledgers.Account.apps
    /// The attempt under way.
    fileprivate(set) var attempt: Attempt?
    /// The provider refused the last payload as too large. The next payload is half as large, if
    /// possible.
    fileprivate(set) var isCutDown = false
  }

  /// The device's state when an attempt began. The attempt's verdict is about that state, even if
  /// the device has changed since.
  struct Attempt: Sendable {
    var serial: UInt64
    var registration: Ordinal
    var address: Address
    /// Whether the attempt goes to another environment of the provider than the registered one.
    var isElsewhere: Bool
    /// The device's connection to the courier when the attempt began; `nil` if it had none.
    var connection: UInt64?
    /// Whether the payload was made half as large as a push may be, because the payload before was
    /// too large.
    var isCutDown: Bool
  }

  private var slots: [Slot?] = []
  private var free: [Int] = []
  private var ofUser: [[Int]] = []
  private(set) var counts = LaneCounts()
  private var lapses = AddressLapses()
  private var lastAttempt: UInt64 = 0
  /// Slots whose devices the next cut writes, and devices whose rows it removes.
  private var written: OrderedSet<Int> = []
  private var removed: OrderedSet<DeviceKey> = []
  private var feedback: [Feedback] = []
  /// Devices in the cut that is not durable yet.
  private var inCut: [Int] = []

  package init() {}

  var isDirty: Bool { !written.isEmpty || !removed.isEmpty || !feedback.isEmpty }

  /// The number of slots, including empty slots. Every device's number is below this number.
  var slotCount: Int { slots.count }
  package var indices: [Int] { slots.indices.filter { slots[$0] != nil } }
  package func contains(_ index: Int) -> Bool { index < slots.count && slots[index] != nil }

  package subscript(index: Int) -> Slot {
    get {
      guard let slot = slots[index] else { preconditionFailure("a device's slot is empty") }
      return slot
    }
    _modify {
      precondition(slots[index] != nil, "a device's slot is empty")
      let before = slots[index]!.glance
      defer { counts.move(index, from: before, to: slots[index]!.glance) }
      yield &slots[index]!
    }
  }

  /// A user's devices, ordered by client id; a restart keeps this order.
  package func all(of user: Int) -> [Int] { user < ofUser.count ? ofUser[user] : [] }

  /// The account of the device's deliveries.
  func account(of device: Int) -> Ledgers.Account { slots[device]?.account ?? .apps }

  package func find(_ client: ClientID, of user: Int) -> Int? {
    all(of: user).first { self[$0].client == client }
  }

  package mutating func insert(_ slot: Slot) -> Int {
    let index: Int
    if let reused = free.popLast() {
      index = reused
      slots[index] = slot
    } else {
      index = slots.count
      slots.append(slot)
    }
    counts.move(index, from: nil, to: slot.glance)
    while ofUser.count <= slot.user { ofUser.append([]) }
    let place = ofUser[slot.user].firstIndex { self[$0].client > slot.client }
    ofUser[slot.user].insert(index, at: place ?? ofUser[slot.user].endIndex)
    return index
  }

  package mutating func remove(_ index: Int) {
    let user = self[index].user
    ofUser[user].removeAll { $0 == index }
    counts.move(index, from: self[index].glance, to: nil)
    slots[index] = nil
    free.append(index)
  }

  /// The slot of the device's lane in a smear is over.
  mutating func dropSlot(of device: Int) { counts.dropSlot(of: device) }

  /// Since when the oldest pending change of any lane waits.
  mutating func oldestFresh() -> Instant? { counts.oldestFresh() }

  /// Marks the device for the next cut, which writes its row.
  mutating func write(_ device: Int) { written.append(device) }

  /// Removes the device. The next cut removes its row, unless `isBack` is called before that cut.
  mutating func remove(_ device: Int, with key: DeviceKey) {
    removed.append(key)
    written.remove(device)
    remove(device)
  }

  mutating func isBack(_ key: DeviceKey) { removed.remove(key) }

  /// Queues an item for the app's own server. The item is in the same cut as the state that it
  /// reports, so a crash keeps or loses both together.
  mutating func tell(_ item: Feedback) { feedback.append(item) }

  /// An attempt begins for the device in its present state.
  ///
  /// - Returns: a number that no attempt of this process has had.
  mutating func beginAttempt(for device: Int) -> UInt64 {
    lastAttempt += 1
    let slot = self[device]
    self[device].attempt = Attempt(
      serial: lastAttempt, registration: slot.registration, address: slot.address,
      isElsewhere: slot.lane.isElsewhere, connection: slot.lane.reach.connection,
      isCutDown: slot.isCutDown)
    return lastAttempt
  }

  /// Ends and returns the attempt with this id; `nil` if that attempt is not under way. The next
  /// payload has its full size, unless `cutDown` is called afterwards.
  mutating func endAttempt(_ id: PushAttempt.ID) -> Attempt? {
    guard let attempt = attempt(id) else { return nil }
    self[id.device].attempt = nil
    self[id.device].isCutDown = false
    return attempt
  }

  /// The provider refused the payload as too large, so the next payload is made smaller.
  mutating func cutDown(_ device: Int) { self[device].isCutDown = true }

  /// A known device is registered again with `address`, by the fact at the ordinal `registration`.
  mutating func register(
    again device: Int, _ address: Address, _ registration: Ordinal, at now: Instant
  ) {
    self[device].lane.registeredAgain()
    if self[device].address != address { self[device].lane.moved() }
    self[device].address = address
    self[device].registeredAt = now
    self[device].registration = registration
  }

  /// The device's address belongs to another device from now on.
  mutating func loseAddress(of device: Int) { self[device].address.token = [] }

  /// The attempt with this id, if it is under way.
  func attempt(_ id: PushAttempt.ID) -> Attempt? {
    guard contains(id.device), let attempt = self[id.device].attempt, attempt.serial == id.serial
    else { return nil }
    return attempt
  }

  mutating func drain(into cut: inout PartitionCut, of users: borrowing Users) {
    for device in written where contains(device) {
      let lane = self[device].lane.record()
      let slot = self[device]
      let owner = users[slot.user]
      cut.devices.append(
        DeviceRow(
          key: DeviceKey(scope: owner.scope, user: owner.user, client: slot.client),
          address: slot.address, registeredAt: slot.registeredAt, registration: slot.registration,
          lane: lane))
    }
    (cut.devicesRemoved, cut.feedback) = (removed.elements, feedback)
    inCut = written.elements
    (written, removed, feedback) = ([], [], [])
  }

  /// The last cut is durable, so all facts up to `ordinal` are folded.
  mutating func folded(to ordinal: Ordinal, ledgers: inout Ledgers) {
    for device in inCut where contains(device) {
      let account = account(of: device)
      self[device].lane.folded(to: ordinal, ledger: &ledgers[account])
    }
    inCut = []
  }
}

extension Devices.Slot {
  /// The parts of this device's lane on which the lane counts depend; `nil` for a device of the
  /// doctor, because the counts that operators see include no such device.
  fileprivate var glance: LaneCounts.Glance? {
    guard account == .apps else { return nil }
    return LaneCounts.Glance(stage: lane.state.stage, freshSince: lane.freshSince, slot: lane.slot)
  }
}

/// Devices that only the courier reaches. The courier address of such a device lapses after some
/// time. Then the relay cannot reach the device until the device asks for a new address.
extension Devices {
  /// The time between two checks of a device that is still connected when its address has lapsed.
  private static let lookAgain = Span.minutes(1)

  /// When the address of a device without a provider lapses; `nil` for other devices. The time is
  /// `courierAddressFor` after the registration. If the device's last fetch is later than this
  /// time, the address lapses `courierAddressFor` after the fetch.
  func addressLapses(of device: Int, _ limits: Limits) -> Instant? {
    let slot = self[device]
    guard slot.address.transport == .courier else { return nil }
    let lapses = slot.registeredAt + limits.courierAddressFor
    guard let fetched = slot.lane.lastFetch, fetched > lapses else { return lapses }
    return fetched + limits.courierAddressFor
  }

  /// Whether the address has lapsed and the device is not connected.
  func hasLapsed(_ device: Int, at now: Instant, _ limits: Limits) -> Bool {
    guard !self[device].lane.reach.isHere, let lapses = addressLapses(of: device, limits) else {
      return false
    }
    return lapses <= now
  }

  /// A device was registered, or loaded from the tables. The lapse of its address must be checked.
  mutating func watchAddress(of device: Int, _ limits: Limits) {
    guard let lapses = addressLapses(of: device, limits) else { return }
    self.lapses.look(at: device, lapses)
  }

  /// When to call `takeLapsed` again.
  @inline(__always)
  var nextLapse: Instant? { lapses.next }

  /// The number of check times: at most one for each slot.
  var lapsesWaiting: Int { lapses.count }

  /// The next device that is not retired and whose address has lapsed; `nil` if there is none.
  mutating func takeLapsed(at now: Instant, _ limits: Limits) -> Int? {
    while let device = lapses.takeDue(at: now) {
      guard contains(device), self[device].lane.retirement == nil,
        let time = addressLapses(of: device, limits)
      else { continue }
      if hasLapsed(device, at: now, limits) { return device }
      lapses.look(at: device, max(time, now + Self.lookAgain))
    }
    return nil
  }
}
