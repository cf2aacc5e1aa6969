/// Registrations with their lanes, in flat slots that are used again.
package struct Devices: Sendable {
  package struct Slot: Sendable {
    package var user: Int
    package var client: ClientID
    package var address: Address
    package var registeredAt: Instant
    package var registration: Ordinal
    package var lane: Lane
    /// The timer that counts; earlier ones that fire find another instant here.
    var armed: Instant = .never
    /// The route in whose line it stands: not its own any more if it moved since.
    var line: RouteKey?
    /// Waits for a fold.
    var isAwaitingFold = false
    /// Stands in the courier's line.
    var isAtCourier = false
    /// Serial of the attempt under way; 0 if none.
    var attempt: UInt64 = 0
    var attemptRegistration: Ordinal = .zero
    var attemptAddress: Address?
    /// It goes to the other environment than the address was registered with.
    var attemptIsElsewhere = false
    /// The courier's connection that it goes over, if it does.
    var attemptConnection: UInt64?
    /// The provider found the last payload too large: the next is half as large, if it can be.
    var isCutDown = false
  }

  private var slots: [Slot?] = []
  private var free: [Int] = []
  private var ofUser: [[Int]] = []
  var counts = LaneCounts()

  package init() {}

  /// Slots, empty ones too: a device's number is below.
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
      let before = LaneCounts.Glance(slots[index]!.lane)
      defer {
        counts.move(index, from: before, to: LaneCounts.Glance(slots[index]!.lane))
      }
      yield &slots[index]!
    }
  }

  /// A user's devices, in order of client id: an order that a restart keeps.
  package func all(of user: Int) -> [Int] { user < ofUser.count ? ofUser[user] : [] }

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
    counts.move(index, from: nil, to: LaneCounts.Glance(slot.lane))
    while ofUser.count <= slot.user { ofUser.append([]) }
    let place = ofUser[slot.user].firstIndex { self[$0].client > slot.client }
    ofUser[slot.user].insert(index, at: place ?? ofUser[slot.user].endIndex)
    return index
  }

  package mutating func remove(_ index: Int) {
    let user = self[index].user
    ofUser[user].removeAll { $0 == index }
    counts.move(index, from: LaneCounts.Glance(self[index].lane), to: nil)
    slots[index] = nil
    free.append(index)
  }
}
