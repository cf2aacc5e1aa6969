/// How attempts end for their devices.
extension Partition {
  /// An attempt ended. A late or repeated verdict changes nothing, because its attempt's serial is
  /// not the serial of an attempt under way. After a failure the lane backs off even if the attempt
  /// cost no budget, so that such attempts are not repeated without end.
  package mutating func ended(
    _ attempt: PushAttempt.ID, _ verdict: Verdict, at now: Instant, _ effects: inout [Effect]
  ) {
    let device = attempt.device
    guard let made = devices.endAttempt(attempt) else { return }
    let flight = trace.isOn ? devices[device].lane.flight : nil
    defer { traceEnded(device, flight, verdict, at: now) }
    devices[device].lane.ended(with: verdict, at: now)
    markDirty(device)
    if devices[device].lane.isOverCourier {
      return told(device, verdict, over: made.connection, at: now)
    }
    let account = devices.account(of: device)
    guard made.address == devices[device].address else {
      // The verdict is about an address that the device no longer has.
      devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
      return
    }
    switch verdict {
    case .delivered, .deliveredElsewhere:
      if verdict == .deliveredElsewhere {
        devices[device].lane.belongs(elsewhere: !made.isElsewhere)
      }
      delivered(device, at: now)
    case .later(let after, let blame, _):
      let until = blame == .recalled ? now : now + backoff(device, attempt, asked: after)
      // The push was not sent, or the provider refused the route. The device got no push.
      if blame == .unsent || blame == .route || blame == .recalled { devices[device].lane.regain() }
      devices[device].lane.postponed(
        until: until, isQuarantined: blame == .quarantine, limits: limits,
        ledger: &ledgers[account])
    case .gone(let since, let reason):
      guard devices[device].isDead(by: made, since: since) else {
        devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
        return
      }
      retire(device, because: reason.text, since: since, at: now, &effects)
    case .tooLarge where !made.isCutDown:
      devices.cutDown(device)
      devices[device].lane.postponed(until: now, limits: limits, ledger: &ledgers[account])
    case .rejected, .tooLarge:
      devices[device].lane.rejected(
        at: now, policy: policy, limits: limits, ledger: &ledgers[account])
    }
  }

  /// The device that a verdict is about. If the device is not registered any more, its address
  /// counts as one for which no push was accepted.
  package func subject(of attempt: PushAttempt) -> Pruning.Subject {
    let hasTaken = devices.attempt(attempt.id).map { made in
      let slot = devices[attempt.id.device]
      return made.address == slot.address && slot.lane.hasTaken
    }
    return Pruning.Subject(
      user: attempt.device.user, client: attempt.device.client, hasTaken: hasTaken ?? false)
  }

  /// The verdict that the relay believes. A report that an address is dead does not count if the
  /// report's date is not later than the registration; the device is then tried again later. Even
  /// many such reports do not show that our configuration is wrong.
  package func believed(_ verdict: Verdict, of attempt: PushAttempt.ID) -> Verdict {
    guard case .gone(let since?, let reason) = verdict, let made = devices.attempt(attempt),
      made.registration == devices[attempt.device].registration,
      since <= devices[attempt.device].registeredAt
    else { return verdict }
    return .later(after: nil, .device, reason)
  }

  /// The delay until the next try. It doubles with each try up to `retryMax`, and a hash varies it
  /// by ±20 %, so that devices that failed in one outage are not all tried at one time. If the
  /// provider asked for a longer delay, that delay applies.
  private func backoff(_ device: Int, _ attempt: PushAttempt.ID, asked: Span?) -> Span {
    guard case .inFlight(let flight) = devices[device].lane.state else { return policy.retryFirst }
    let doubled = policy.retryFirst * (1 << Int64(min(flight.tries - 1, 30)))
    let base = min(doubled, policy.retryMax)
    var hash = devices[device].client.bits.low ^ UInt64(flight.wake) << 32 ^ attempt.serial
    hash = (hash ^ hash >> 31) &* 0x9e37_79b9_7f4a_7c15
    let percent = 80 + Int64((hash >> 40) % 41)
    let jittered = Span(milliseconds: base.milliseconds / 100 * percent + base.milliseconds % 100)
    return max(jittered, asked ?? .zero)
  }
}

extension Devices.Slot {
  /// The address for a push, with the environment that accepts pushes for the token.
  var goal: Address {
    guard lane.isElsewhere else { return address }
    var goal = address
    goal.environment = address.environment?.other
    return goal
  }

  /// Whether the device's address is dead. A provider's report counts only for the registration
  /// that it was about. If the report has a date, the date must be later than the registration.
  func isDead(by attempt: Devices.Attempt, since: Instant?) -> Bool {
    guard attempt.registration == registration else { return false }
    return since.map { $0 > registeredAt } ?? true
  }
}

extension NotificationContent {
  /// The zone, and the database in which the device sees it.
  var place: WakeText.NamedZone { WakeText.NamedZone(zone: zone, database: database) }
}
