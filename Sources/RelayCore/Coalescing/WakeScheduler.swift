import HeapModule
import OrderedCollections

/// When each lane of a partition is evaluated again, and in which routes' queues the lane waits. A
/// device is identified by the number of its slot in `Devices`.
struct WakeScheduler: Sendable {
  private struct Slot: Sendable {
    /// The time of the device's valid timer. A timer with any other time is ignored when it fires.
    var armed = Instant.never
    /// The route in whose queue the lane waits. After a change of the address, this may differ from
    /// the device's own route.
    var line: RouteKey?
    var isAtCourier = false
    var isAwaitingFold = false
  }

  private var slots: [Slot] = []
  private var timers = Heap<TimeOrdered<Int>>()
  /// Devices whose lanes had an input since they were last evaluated.
  private var dirty: OrderedSet<Int> = []
  private var awaitingFold: [Int] = []
  /// Slots of devices that were not evaluated since the rules changed.
  private var outdated = 0..<0

  /// When lanes should be evaluated if no other input comes.
  @inline(__always)
  var nextTimer: Instant? { outdated.isEmpty ? timers.min?.at : .zero }

  /// The number of timers: always at most a few for each device.
  var timersWaiting: Int { timers.count }

  var isAwaitingFold: Bool { !awaitingFold.isEmpty }

  /// The lane had an input.
  mutating func markDirty(_ device: Int) { dirty.append(device) }

  /// The rules have changed. `markOutdated` then marks all lanes, part by part, to be evaluated
  /// again, because their timers were set by the old rules.
  mutating func rulesChanged(slots count: Int) { outdated = 0..<count }

  /// The number of slots that `markOutdated` has not examined yet.
  var outdatedSlots: Int { outdated.count }

  /// - Returns: how many slots were examined; the lanes in them are evaluated next.
  mutating func markOutdated(atMost count: Int, in devices: borrowing Devices) -> Int {
    let part = outdated.prefix(count)
    for device in part where devices.contains(device) { dirty.append(device) }
    outdated = part.upperBound..<outdated.upperBound
    return part.count
  }

  /// Lanes to evaluate now: those with an input, then those whose timer has fired.
  mutating func takeDue(at now: Instant) -> [Int] {
    var due = dirty.elements
    dirty = []
    while let timer = timers.min, timer.at <= now {
      timers.removeMin()
      guard slot(timer.item).armed == timer.at else { continue }
      slots[timer.item].armed = .never
      due.append(timer.item)
    }
    return due
  }

  /// Sets a timer that evaluates the lane again at `at`. If the lane has an earlier timer, no
  /// second timer is added.
  mutating func arm(_ device: Int, at: Instant) {
    guard at < slot(device).armed else { return }
    grow(to: device)
    slots[device].armed = at
    timers.insert(TimeOrdered(at: at, item: device))
  }

  /// Records that the lane waits for the next fold.
  ///
  /// - Returns: false if the lane waits already.
  mutating func awaitFold(_ device: Int) -> Bool {
    guard !slot(device).isAwaitingFold else { return false }
    grow(to: device)
    slots[device].isAwaitingFold = true
    awaitingFold.append(device)
    return true
  }

  /// Removes and returns the lanes that waited for the fold, which is now durable.
  mutating func takeAwaitingFold() -> [Int] {
    let waited = awaitingFold
    awaitingFold = []
    for device in waited { slots[device].isAwaitingFold = false }
    return waited
  }

  /// Records that the lane waits in the queue of `route`. The caller then adds the lane to that
  /// queue.
  ///
  /// - Returns: false if the lane waits in that queue already.
  mutating func lineUp(_ device: Int, at route: RouteKey) -> Bool {
    guard slot(device).line != route else { return false }
    grow(to: device)
    slots[device].line = route
    return true
  }

  /// Records that the lane waits in the courier's queue. The lane may also wait in its provider's
  /// queue, so a stopped route does not delay the courier.
  mutating func lineUpAtCourier(_ device: Int) -> Bool {
    guard !slot(device).isAtCourier else { return false }
    grow(to: device)
    slots[device].isAtCourier = true
    return true
  }

  /// Records that the lane has left the queue of `route`, because its turn has come.
  mutating func leaveLine(_ device: Int, at route: RouteKey) {
    guard device < slots.count else { return }
    if route.transport == .courier {
      slots[device].isAtCourier = false
    } else if slots[device].line == route {
      slots[device].line = nil
    }
  }

  /// The device was removed, and its slot may be used again.
  mutating func removed(_ device: Int) {
    if device < slots.count { slots[device] = Slot() }
  }

  private func slot(_ device: Int) -> Slot { device < slots.count ? slots[device] : Slot() }

  private mutating func grow(to device: Int) {
    while slots.count <= device { slots.append(Slot()) }
  }
}
