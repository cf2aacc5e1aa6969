import HeapModule

/// Devices that have only the courier, and whose address there has lapsed: they cannot be reached
/// before they ask for another one.
extension Partition {
  /// Between two looks at a device that is still connected when its address lapses.
  private static let lookAgain = Span.minutes(1)

  /// When the address of a device without a provider lapses; nil for others. A device that fetched
  /// something later lives at least as long again.
  func addressLapses(of device: Int) -> Instant? {
    let slot = devices[device]
    guard slot.address.transport == .courier else { return nil }
    let lapses = slot.registeredAt + limits.courierAddressFor
    guard let fetched = slot.lane.lastFetch, fetched > lapses else { return lapses }
    return fetched + limits.courierAddressFor
  }

  /// It has neither polled nor fetched since.
  func hasLapsed(_ device: Int, at now: Instant) -> Bool {
    guard !devices[device].lane.reach.isHere, let lapses = addressLapses(of: device) else {
      return false
    }
    return lapses <= now
  }

  /// A device was registered, or found in the tables. A slot that was used before may still have
  /// its timer: that fires earlier, and finds the device that is there then.
  mutating func watchAddress(of device: Int) {
    guard let lapses = addressLapses(of: device) else { return }
    look(at: device, lapses)
  }

  private mutating func look(at device: Int, _ time: Instant) {
    guard lapsingSlots.insert(device).inserted else { return }
    lapsing.insert(Timer(at: time, device: device))
  }

  /// At most one for each slot, whatever happens.
  var lapsesWaiting: Int { lapsing.count }

  mutating func retireLapsed(at now: Instant, _ effects: inout [Effect]) {
    while let timer = lapsing.min, timer.at <= now {
      lapsing.removeMin()
      lapsingSlots.remove(timer.device)
      guard devices.contains(timer.device), devices[timer.device].lane.retirement == nil,
        let lapses = addressLapses(of: timer.device)
      else { continue }
      if hasLapsed(timer.device, at: now) {
        retire(timer.device, because: "lapsed", since: nil, at: now, &effects)
      } else {
        look(at: timer.device, max(lapses, now + Self.lookAgain))
      }
    }
  }
}
