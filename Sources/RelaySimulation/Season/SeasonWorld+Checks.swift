import RelayCore
import RelayMemory

/// The checks at every step, every six hours, and at the end.
extension SeasonWorld {
  /// Checks P12, after every input.
  func checkLedger() throws {
    guard let daemon else { return }
    for id in homes {
      var ledger = daemon.coordinator.ledger(of: id)
      if mutant == .countsTwice, ledger.woken > 1 { ledger.woken += 1 }
      try demand(
        .theLedgerBalances, ledger.isBalanced && ledger.pending >= 0,
        "partition \(id.number): \(ledger)")
    }
  }

  /// P6: the stored state of a device is bounded, however long the device is silent.
  func checkBounds(_ cut: Cut) throws {
    for row in cut.partitions.lazy.flatMap(\.devices) {
      let isBounded =
        row.lane.pending.subjects.count <= 2 && row.lane.pending.alerts.isEmpty
        && row.lane.background.times.count <= plan.policy.backgroundMost
      try demand(.oneAttemptAtATime, isBounded, "the lane of \(row.key.line) grew")
    }
  }

  /// P5: each change reaches each of its phones in time, by a push or by a fetch. No device whose
  /// app is installed is retired.
  func look() throws {
    guard daemon != nil else { return }
    for index in phones.indices where phones[index].isInstalled {
      try observer.look(index, at: now)
    }
    for id in homes {
      for row in store.world.partitions[Int(id.number)].devices.values {
        guard let retirement = row.lane.retirement,
          let index = byClient[row.key.client], phones[index].isInstalled,
          row.address == phones[index].address
        else { continue }
        throw InvariantViolation(
          .everyDeviceIsWoken, "phone \(index) was given up: \(retirement.reason)")
      }
    }
  }

  func checkTheEnd() throws {
    try look()
    for index in phones.indices {
      let phone = phones[index]
      let reached = phones[index].reached(at: now)
      guard phone.isInstalled else { continue }
      // The change is not fetched yet, so it counts with its present age.
      for expected in observer.unfetched(index) {
        figures.freshness.append(Int32((reached - expected.reached).milliseconds / 1_000))
        figures.unfetched += 1
      }
    }
    figures.hours = phones.count * Int(plan.days) * 24
    guard let daemon else { return }
    try settle()
    for id in homes {
      let devices = store.world.partitions[Int(id.number)].devices
      let isFlying = devices.keys.contains { byClient[$0.client].map(observer.isFlying) ?? false }
      let held = devices.values.reduce(0) { $0 + $1.lane.pending.deliveries }
      let ledger = daemon.coordinator.ledger(of: id)
      try demand(
        .theLedgerBalances, isFlying || Int64(held) == ledger.pending,
        "partition \(id.number) holds \(held): \(ledger.line)")
    }
  }
}
