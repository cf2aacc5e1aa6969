/// Devices that are connected to the courier, and the results of their wakes.
extension Partition {
  /// A poll or stream is open. If its device is not registered, the connection is closed.
  package mutating func connected(
    _ key: DeviceKey, _ connection: UInt64, after: UInt32?, at now: Instant,
    _ effects: inout [Effect]
  ) {
    guard let device = find(key) else {
      effects.append(.hangUp(key))
      return
    }
    let account = devices.account(of: device)
    if let after, devices[device].lane.mayHaveTold(after) {
      trace(.connected(after: after), of: device, at: now)
    }
    devices[device].lane.connected(connection, after: after, ledger: &ledgers[account])
    heardOf(device, at: now)
    if after != nil { devices[device].lane.fetched(at: now) }
    markDirty(device)
  }

  package mutating func left(
    _ key: DeviceKey, _ connection: UInt64, isExpectedBack: Bool, at now: Instant
  ) {
    guard let device = find(key) else { return }
    devices[device].lane.left(connection, isExpectedBack: isExpectedBack, at: now, policy: policy)
    markDirty(device)
  }

  /// An attempt over the courier ended. The result is about the device, even if its address has
  /// changed.
  ///
  /// - Parameter made: the connection over which the attempt was sent; `nil` if there was none.
  mutating func told(_ device: Int, _ verdict: Verdict, over made: UInt64?, at now: Instant) {
    if case .delivered = verdict {
      delivered(device, at: now)
    } else {
      // No connection took the wake. The wake goes on as a push, or waits for the next poll.
      let account = devices.account(of: device)
      devices[device].lane.notTaken(by: made)
      devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
    }
  }

  /// The route of the courier in the device's scope. It is a route like any other, without a topic.
  func courier(of device: Int) -> RouteKey {
    RouteKey(scope: users[devices[device].user].scope, transport: .courier, topic: "")
  }
}

extension Lane {
  /// Whether an attempt over the courier is under way.
  var isOverCourier: Bool { flight?.isOverCourier == true }
}
