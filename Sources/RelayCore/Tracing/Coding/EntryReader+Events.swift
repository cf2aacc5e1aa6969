/// How the events of devices, users and routes are read.
extension EntryReader {
  mutating func deviceEvent() throws(CodingFailure) -> DeviceEvent {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1:
      return .registered(
        try bytes.raw(), topic: try bytes.text(Self.part), try bytes.value(),
        isNew: try bytes.flag(Self.part))
    case 2: return .unregistered(try bytes.value())
    case 3: return .retired(try bytes.text(Self.part))
    case 4:
      let wait: Lane.Wait = try bytes.raw()
      guard let until = try time() else { throw wrong(0) }
      return .waits(wait, until: until)
    case 5: return .waitsForConnection
    case 6: return .wake(try wake())
    case 7:
      return .ended(
        TracedVerdict(
          wake: try wakeNumber(), try verdict(), rests: try time(),
          dropsAlert: try bytes.flag(Self.part)))
    case 8: return .receipt(try receipt())
    case 9: return .withdrawn(try withdrawal())
    case 10: return .hushed(try notification(), try part())
    default: throw wrong(number)
    }
  }

  private mutating func wake() throws(CodingFailure) -> TracedWake {
    var wake = TracedWake(
      number: try wakeNumber(), transport: try bytes.raw(), topic: try bytes.text(Self.part),
      isAlert: try bytes.flag(Self.part), runsApp: try bytes.flag(Self.part),
      shows: try notification(), names: [], tries: 1, cause: .news)
    for _ in 0..<(try bytes.count(Self.part)) { wake.names.append(try part()) }
    wake.tries = try int()
    wake.cause = try bytes.raw()
    return wake
  }

  private mutating func verdict() throws(CodingFailure) -> Verdict {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .delivered
    case 2: return .deliveredElsewhere
    case 3:
      let after =
        try bytes.flag(Self.part) ? Span(milliseconds: try bytes.signed(Self.part)) : nil
      return .later(after: after, try bytes.raw(), try reason())
    case 4: return .gone(at: try time(), try reason())
    case 5: return .rejected(try reason())
    case 6: return .tooLarge(try reason())
    default: throw wrong(number)
    }
  }

  private mutating func reason() throws(CodingFailure) -> Verdict.Reason {
    Verdict.Reason(try bytes.text(Self.part))
  }

  private mutating func receipt() throws(CodingFailure) -> TracedReceipt {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .acknowledged(.notifications(try bytes.value(), try bytes.raw()))
    case 2:
      return .acknowledged(
        .zone(try zone(), try bytes.raw(), try bytes.value(), try bytes.raw()))
    case 3:
      var zones: [ZoneID] = []
      for _ in 0..<(try bytes.count(Self.part)) { zones.append(try zone()) }
      return .acknowledged(.listed(zones, try bytes.raw()))
    case 4: return .acknowledged(.wake(try wakeNumber()))
    case 5: return .connected(after: try wakeNumber())
    case 6: return .marked(try bytes.list())
    default: throw wrong(number)
    }
  }

  private mutating func withdrawal() throws(CodingFailure) -> Withdrawal {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .subscription(try bytes.value(), try bytes.raw())
    case 2: return .zone(try zone(), try bytes.raw())
    default: throw wrong(number)
    }
  }

  mutating func userEvent() throws(CodingFailure) -> UserEvent {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1:
      return .subscribed(
        try outline(), before: try bytes.flag(Self.part) ? try outline() : nil,
        try bytes.value())
    case 2: return .unsubscribed(try outline(), try bytes.value())
    case 3: return .joined(try zone(), try bytes.value())
    case 4: return .left(try zone(), try bytes.value())
    default: throw wrong(number)
    }
  }

  private mutating func outline() throws(CodingFailure) -> SubscriptionOutline {
    let (id, database): (SubscriptionID, Database) = (try bytes.value(), try bytes.raw())
    let since: Ordinal = try bytes.value()
    let number = try bytes.byte(Self.part)
    let rule: SubscriptionOutline.Rule
    switch number {
    case 1:
      rule = .query(
        recordType: try bytes.text(Self.part),
        zone: try bytes.flag(Self.part) ? try zone() : nil,
        QueryRule.Firing(rawValue: try bytes.byte(Self.part)),
        hasFilters: try bytes.flag(Self.part))
    case 2: rule = .zone(try zone(), recordType: try bytes.optionalText(Self.part))
    case 3: rule = .database(recordType: try bytes.optionalText(Self.part))
    default: throw wrong(number)
    }
    return SubscriptionOutline(id: id, database: database, since: since, rule: rule)
  }

  mutating func routeEvent() throws(CodingFailure) -> RouteEvent {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .stopped(try bytes.text(Self.part))
    case 2: return .resumed
    case 3: return .withdrawn
    case 4: return .renewed
    case 5: return .quarantine(until: try time())
    default: throw wrong(number)
    }
  }
}
