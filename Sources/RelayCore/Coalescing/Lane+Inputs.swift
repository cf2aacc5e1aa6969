extension Lane {
  /// The device was served a page of the notifications feed up to `position`, or presented a token
  /// of that position.
  package mutating func acknowledged(notifications position: Position, ledger: inout Ledger) {
    hasAcknowledged = true
    ledger.settle(pending.acknowledge(notifications: position), as: \.fetched)
    cancelAlerts(as: \.fetched, ledger: &ledger) { $0.position <= position }
    if pending.alerts.isEmpty { pending.lostAlerts = false }
    settleState()
  }

  /// The device was served a page of a zone's own feed up to `position`, or presented a token of
  /// that position.
  package mutating func acknowledged(
    zone: ZoneID, _ database: Database, position: Position, ledger: inout Ledger
  ) {
    hasAcknowledged = true
    ledger.settle(pending.acknowledge(zone, database, position), as: \.fetched)
    settleState()
  }

  /// A database page listed these zones to the device. The ladder ends for those zones that were
  /// told.
  package mutating func listed(_ zones: [ZoneID], _ database: Database) {
    hasAcknowledged = true
    pending.waking.keep { subject in
      guard subject.isZone, subject.content.database == database, !subject.isUntold else {
        return true
      }
      return !zones.contains(subject.content.zone)
    }
    settleState()
  }

  /// Whether a wake of this device may have had this number.
  func mayHaveTold(_ wake: UInt32) -> Bool { wake > 0 && wake < nextWake }

  /// The device acknowledged a wake without fetching. A number that no wake has had is ignored.
  package mutating func acknowledged(wake: UInt32, ledger: inout Ledger) {
    guard mayHaveTold(wake) else { return }
    hasAcknowledged = true
    if case .inFlight(let attempt) = state, attempt.wake <= wake {
      pending.waking.keep { subject in
        guard subject.isCovered else { return true }
        if !subject.isCoveredOfAlert { ledger.settle(1, as: \.fetched) }
        subject.clearCover()
        return subject.isFresh
      }
      pending.quiet.keep { !$0.isCovered }
    }
    pending.waking.keep { subject in
      guard subject.toldBy > 0, subject.toldBy <= wake else { return true }
      subject.toldBy = 0
      return subject.isUntold
    }
    pending.quiet.keep { $0.isFresh || $0.toldBy > wake }
    settleState()
  }

  /// These notifications were marked as read, so their alerts are not shown any more. What pends in
  /// the background stays, because a read mark says nothing about zones.
  ///
  /// - Returns: false if nothing changed in this lane, so that nothing needs to be written.
  package mutating func read(_ notifications: Set<Identifier>, ledger: inout Ledger) -> Bool {
    let before = (ledger.fetched, pending.lostAlerts)
    cancelAlerts(as: \.fetched, ledger: &ledger) {
      notifications.contains($0.content.notification)
    }
    if pending.alerts.isEmpty { pending.lostAlerts = false }
    guard before != (ledger.fetched, pending.lostAlerts) else { return false }
    settleState()
    return true
  }

  /// A subscription was removed, or a zone was deleted or withdrawn. What pends for that
  /// subscription or zone is not told any more.
  package mutating func withdraw(_ withdrawal: Withdrawal, ledger: inout Ledger) {
    ledger.settle(pending.withdraw(withdrawal), as: \.withdrawn)
    cancelAlerts(as: \.withdrawn, withEarlier: false, ledger: &ledger) {
      withdrawal.means($0.content)
    }
    settleState()
  }

  /// Cancels the alerts that `isMeant` selects, waiting or in flight. If the attempt in flight
  /// fails, its cancelled alert is not repeated.
  ///
  /// - Parameter withEarlier: whether to cancel also the waiting alerts that came before a
  ///   selected alert and have the same `AlertKey`, such as one subscription and one record.
  private mutating func cancelAlerts(
    as end: WritableKeyPath<Ledger, Int64>, withEarlier: Bool = true, ledger: inout Ledger,
    _ isMeant: (PendingAlert) -> Bool
  ) {
    ledger.settle(pending.cancelAlerts(withEarlier: withEarlier, isMeant), as: end)
    if state.cancelAlert(isMeant) { ledger.settle(1, as: end) }
  }

  package mutating func retire(_ retirement: Retirement, ledger: inout Ledger) {
    dropAll(as: \.retired, ledger: &ledger)
    silence = nil
    state.retired(retirement)
  }

  /// Drops everything that waits for the device, because the device is retired or its registration
  /// is removed.
  package mutating func dropAll(
    as end: WritableKeyPath<Ledger, Int64>, ledger: inout Ledger
  ) {
    ledger.settle(pending.deliveries, as: end)
    if case .inFlight(let attempt) = state, attempt.alert != nil { ledger.settle(1, as: end) }
    pending = PendingSet()
    freshSince = nil
    fallback = nil
  }

  /// The device was registered again, which ends a retirement and changes nothing else in the
  /// state.
  package mutating func registeredAgain() { state.registeredAgain() }

  /// The device has another address. What a provider answered for the earlier address does not
  /// apply any more.
  package mutating func moved() {
    isElsewhere = false
    hasTaken = false
    if state.moved(State.Waiting(pending)) { settleState() }
  }

  /// Notes that the route has a new provider, so that a resting lane does not rest any longer.
  package mutating func renewed(at now: Instant) { state.renewed(at: now) }

  /// Adjusts the state, the fallback and `freshSince` to what still pends. `State.settle` says
  /// which states end.
  mutating func settleState() {
    if !pending.isFresh && pending.alerts.isEmpty { freshSince = nil }
    settleFallback()
    if state.settle(State.Waiting(pending), hasFallback: fallback != nil) { ladderStep = 0 }
  }
}

extension Pending {
  /// Whether the subject is a zone. The subject of a query notification is the notifications feed.
  var isZone: Bool {
    if case .query = content.kind { return false }
    return true
  }
}
