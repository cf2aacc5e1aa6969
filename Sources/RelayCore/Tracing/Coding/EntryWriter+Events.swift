/// How the events of devices, users and routes are written.
extension EntryWriter {
  mutating func write(_ event: DeviceEvent) {
    switch event {
    case .registered(let transport, let topic, let ordinal, let isNew):
      bytes.byte(1)
      bytes.byte(transport.rawValue)
      bytes.text(topic)
      bytes.value(ordinal)
      bytes.flag(isNew)
    case .unregistered(let ordinal):
      bytes.byte(2)
      bytes.value(ordinal)
    case .retired(let reason):
      bytes.byte(3)
      bytes.text(reason)
    case .waits(let wait, let until):
      bytes.byte(4)
      bytes.byte(wait.rawValue)
      time(until)
    case .waitsForConnection: bytes.byte(5)
    case .wake(let wake): write(wake)
    case .ended(let end): write(end)
    case .receipt(let receipt):
      bytes.byte(8)
      write(receipt)
    case .withdrawn(let withdrawal):
      bytes.byte(9)
      write(withdrawal)
    case .hushed(let shown, let part):
      bytes.byte(10)
      alert(shown)
      write(part)
    }
  }

  mutating func write(_ end: TracedVerdict) {
    bytes.byte(7)
    bytes.number(UInt64(end.wake))
    write(end.verdict)
    time(end.rests)
    bytes.flag(end.dropsAlert)
  }

  mutating func write(_ wake: TracedWake) {
    bytes.byte(6)
    bytes.number(UInt64(wake.number))
    bytes.byte(wake.transport.rawValue)
    bytes.text(wake.topic)
    bytes.flag(wake.runsApp)
    notification(wake.shows)
    bytes.flag(wake.alertOf != nil)
    if let alertOf = wake.alertOf { subscription(alertOf) }
    bytes.count(wake.names.count)
    for part in wake.names { write(part) }
    bytes.count(wake.tries)
    bytes.byte(wake.cause.rawValue)
  }

  private mutating func write(_ verdict: Verdict) {
    switch verdict {
    case .delivered: bytes.byte(1)
    case .deliveredElsewhere: bytes.byte(2)
    case .later(let after, let blame, let reason):
      bytes.byte(3)
      bytes.flag(after != nil)
      if let after { bytes.signed(after.milliseconds) }
      bytes.byte(blame.rawValue)
      bytes.text(reason.text)
    case .gone(let since, let reason):
      bytes.byte(4)
      time(since)
      bytes.text(reason.text)
    case .rejected(let reason):
      bytes.byte(5)
      bytes.text(reason.text)
    case .tooLarge(let reason):
      bytes.byte(6)
      bytes.text(reason.text)
    }
  }

  private mutating func write(_ receipt: TracedReceipt) {
    switch receipt {
    case .acknowledged(.notifications(let position, let proof)):
      bytes.byte(1)
      bytes.value(position)
      bytes.byte(proof.rawValue)
    case .acknowledged(.zone(let name, let database, let position, let proof)):
      bytes.byte(2)
      zone(name)
      bytes.byte(database.rawValue)
      bytes.value(position)
      bytes.byte(proof.rawValue)
    case .acknowledged(.listed(let zones, let database)):
      bytes.byte(3)
      bytes.count(zones.count)
      for name in zones { zone(name) }
      bytes.byte(database.rawValue)
    case .acknowledged(.wake(let number)):
      bytes.byte(4)
      bytes.number(UInt64(number))
    case .connected(let number):
      bytes.byte(5)
      bytes.number(UInt64(number))
    case .marked(let notifications):
      bytes.byte(6)
      bytes.list(notifications)
    }
  }

  private mutating func write(_ withdrawal: Withdrawal) {
    switch withdrawal {
    case .subscription(let id, let database):
      bytes.byte(1)
      bytes.value(id)
      bytes.byte(database.rawValue)
    case .zone(let name, let database):
      bytes.byte(2)
      zone(name)
      bytes.byte(database.rawValue)
    }
  }

  mutating func write(_ event: UserEvent) {
    switch event {
    case .subscribed(let now, let before, let ordinal):
      bytes.byte(1)
      write(now)
      bytes.flag(before != nil)
      if let before { write(before) }
      bytes.value(ordinal)
    case .unsubscribed(let old, let ordinal):
      bytes.byte(2)
      write(old)
      bytes.value(ordinal)
    case .joined(let name, let ordinal):
      bytes.byte(3)
      zone(name)
      bytes.value(ordinal)
    case .left(let name, let ordinal):
      bytes.byte(4)
      zone(name)
      bytes.value(ordinal)
    }
  }

  private mutating func write(_ outline: SubscriptionOutline) {
    bytes.value(outline.id)
    bytes.byte(outline.database.rawValue)
    bytes.value(outline.since)
    switch outline.rule {
    case .query(let type, let name, let firesOn, let hasFilters):
      bytes.byte(1)
      bytes.text(type)
      bytes.flag(name != nil)
      if let name { zone(name) }
      bytes.byte(firesOn.rawValue)
      bytes.flag(hasFilters)
    case .zone(let name, let type):
      bytes.byte(2)
      zone(name)
      bytes.text(type)
    case .database(let type):
      bytes.byte(3)
      bytes.text(type)
    }
  }

  mutating func write(_ event: RouteEvent) {
    switch event {
    case .stopped(let reason):
      bytes.byte(1)
      bytes.text(reason)
    case .resumed: bytes.byte(2)
    case .withdrawn: bytes.byte(3)
    case .renewed: bytes.byte(4)
    case .quarantine(let until):
      bytes.byte(5)
      time(until)
    }
  }
}
