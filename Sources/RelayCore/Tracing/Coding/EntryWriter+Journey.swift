/// Writes the entries about a change's way, each from a `TraceEntry` or directly from the core's
/// own values. The direct form copies no name.
extension EntryWriter {
  // MARK: The change

  mutating func write(
    _ change: Change, at place: FactPlace, isSuperseded: Bool, isReplayed: Bool, at now: Instant
  ) {
    begin(.change, at: now)
    write(change.event, of: change.notification, change.database, change.zone)
    write(change.author)
    self.place(place)
    bytes.flag(isSuperseded)
    bytes.flag(isReplayed)
  }

  mutating func write(_ change: TracedChange, at now: Instant) {
    begin(.change, at: now)
    write(change.event, of: change.notification, change.database, change.zone)
    write(change.author)
    place(change.place)
    bytes.flag(change.isSuperseded)
    bytes.flag(change.isReplayed)
  }

  private mutating func write(
    _ event: Change.Event, of name: Identifier, _ database: Database, _ zone: ZoneID
  ) {
    notification(name)
    bytes.byte(database.rawValue)
    self.zone(zone)
    switch event {
    case .record(let record):
      bytes.byte(record.verb.rawValue)
      bytes.text(record.name)
      bytes.text(record.type)
    case .zone(let change): bytes.byte(10 + change.rawValue)
    case .granted(let user):
      bytes.byte(20)
      bytes.value(user)
    case .revoked(let user):
      bytes.byte(21)
      bytes.value(user)
    }
  }

  private mutating func write(_ author: Change.Author?) {
    bytes.flag(author != nil)
    guard let author else { return }
    bytes.value(author.user)
    bytes.optional(author.client)
  }

  private mutating func place(_ place: FactPlace) {
    bytes.value(place.partition)
    bytes.value(place.ordinal)
  }

  mutating func write(_ move: TracedMove) {
    notification(move.notification)
    place(move.place)
    switch move.step {
    case .forwarded(let partitions):
      bytes.byte(1)
      bytes.list(partitions)
    case .reached: bytes.byte(2)
    case .spreading: bytes.byte(3)
    case .spread: bytes.byte(4)
    }
  }

  // MARK: The match

  mutating func write(_ match: TracedMatch, at now: Instant) {
    write(
      match.notification, to: match.user.user, by: match.subscription, match.database, match.zone,
      at: match.position, match.zonePosition, match.devices, at: now)
  }

  mutating func write(
    _ notification: Identifier, to user: UserID, by subscription: SubscriptionID,
    _ database: Database, _ zone: ZoneID, at position: Position, _ zonePosition: Position,
    _ devices: [TracedMatch.Device], at now: Instant
  ) {
    begin(.matched, at: now)
    self.notification(notification)
    self.user(user)
    self.subscription(subscription)
    bytes.byte(database.rawValue)
    self.zone(zone)
    bytes.value(position)
    bytes.value(zonePosition)
    bytes.count(devices.count)
    // The loop goes by index: a loop over the elements would copy every device's names.
    for index in devices.indices {
      bytes.value(devices[index].client)
      write(devices[index].outcome)
    }
  }

  private mutating func write(_ outcome: TracedMatch.Outcome) {
    switch outcome {
    case .own: bytes.byte(1)
    case .retired: bytes.byte(2)
    case .pends(let part, let gathers, let instead):
      bytes.byte(3)
      write(part)
      time(gathers)
      // Few matches make an alert give way, so all others write one byte.
      bytes.flag(instead.isAny)
      guard instead.isAny else { return }
      bytes.flag(instead.replaced != nil)
      if let older = instead.replaced { alert(older) }
      bytes.flag(instead.crowdedOut != nil)
      if let older = instead.crowdedOut { crowdedOut(older) }
      bytes.flag(instead.left != nil)
      if let left = instead.left { write(left) }
    }
  }

  mutating func write(_ part: TracedPart) {
    switch part {
    case .zone(let name, let database):
      bytes.byte(1)
      zone(name)
      bytes.byte(database.rawValue)
    case .query: bytes.byte(2)
    case .many: bytes.byte(3)
    case .alert(let shown):
      bytes.byte(4)
      alert(shown)
    }
  }

  mutating func alert(_ alert: TracedAlert) {
    notification(alert.notification)
    subscription(alert.subscription)
  }
}
