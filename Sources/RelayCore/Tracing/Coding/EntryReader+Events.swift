/// How the events of devices, users and routes are read.
extension EntryReader {
  mutating func deviceEvent() throws(CodingFailure) -> DeviceEvent {
    switch try byte() {
    case 1:
      return .registered(
        try bytes.raw(), topic: try text(), try bytes.value(), isNew: try flag())
    case 2: return .unregistered(try bytes.value())
    case 3: return .retired(try text())
    case 4:
      let wait: Lane.Wait = try bytes.raw()
      guard let until = try time() else { throw wrong(0) }
      return .waits(wait, until: until)
    case 5: return .waitsForConnection
    case 6: return .wake(try wake())
    case 7:
      return .ended(
        TracedVerdict(
          wake: try number(), verdict: try verdict(), rests: try time(), dropsAlert: try flag()))
    case 8: return .receipt(try receipt())
    case 9: return .withdrawn(try withdrawal())
    case 10: return .hushed(try alert(), try part())
    case let other: throw wrong(other)
    }
  }

  private mutating func wake() throws(CodingFailure) -> TracedWake {
    var wake = TracedWake(
      number: try number(), transport: try bytes.raw(), topic: try text(), runsApp: try flag(),
      shows: try notification(), alertOf: try flag() ? try subscription() : nil, names: [],
      tries: 1, cause: .news)
    for _ in 0..<(try count()) { wake.names.append(try part()) }
    wake.tries = try number()
    wake.cause = try bytes.raw()
    return wake
  }

  private mutating func verdict() throws(CodingFailure) -> Verdict {
    switch try byte() {
    case 1: return .delivered
    case 2: return .deliveredElsewhere
    case 3:
      let after = try flag() ? Span(milliseconds: try signed()) : nil
      return .later(after: after, try bytes.raw(), try reason())
    case 4: return .gone(at: try time(), try reason())
    case 5: return .rejected(try reason())
    case 6: return .tooLarge(try reason())
    case let other: throw wrong(other)
    }
  }

  private mutating func reason() throws(CodingFailure) -> Verdict.Reason {
    Verdict.Reason(try text())
  }

  private mutating func receipt() throws(CodingFailure) -> TracedReceipt {
    switch try byte() {
    case 1: return .acknowledged(.notifications(try bytes.value(), try bytes.raw()))
    case 2:
      return .acknowledged(.zone(try zone(), try bytes.raw(), try bytes.value(), try bytes.raw()))
    case 3:
      var zones: [ZoneID] = []
      for _ in 0..<(try count()) { zones.append(try zone()) }
      return .acknowledged(.listed(zones, try bytes.raw()))
    case 4: return .acknowledged(.wake(try number()))
    case 5: return .connected(after: try number())
    case 6: return .marked(try bytes.list())
    case let other: throw wrong(other)
    }
  }

  private mutating func withdrawal() throws(CodingFailure) -> Withdrawal {
    switch try byte() {
    case 1: return .subscription(try bytes.value(), try bytes.raw())
    case 2: return .zone(try zone(), try bytes.raw())
    case let other: throw wrong(other)
    }
  }

  mutating func userEvent() throws(CodingFailure) -> UserEvent {
    switch try byte() {
    case 1:
      return .subscribed(
        try outline(), before: try flag() ? try outline() : nil, try bytes.value())
    case 2: return .unsubscribed(try outline(), try bytes.value())
    case 3: return .joined(try zone(), try bytes.value())
    case 4: return .left(try zone(), try bytes.value())
    case let other: throw wrong(other)
    }
  }

  private mutating func outline() throws(CodingFailure) -> SubscriptionOutline {
    let (id, database): (SubscriptionID, Database) = (try bytes.value(), try bytes.raw())
    let since: Ordinal = try bytes.value()
    let rule: SubscriptionOutline.Rule
    switch try byte() {
    case 1:
      rule = .query(
        recordType: try text(), zone: try flag() ? try zone() : nil,
        QueryRule.Firing(rawValue: try byte()), hasFilters: try flag())
    case 2: rule = .zone(try zone(), recordType: try bytes.optionalText(Self.part))
    case 3: rule = .database(recordType: try bytes.optionalText(Self.part))
    case let other: throw wrong(other)
    }
    return SubscriptionOutline(id: id, database: database, since: since, rule: rule)
  }

  mutating func routeEvent() throws(CodingFailure) -> RouteEvent {
    switch try byte() {
    case 1: return .stopped(try text())
    case 2: return .resumed
    case 3: return .withdrawn
    case 4: return .renewed
    case 5: return .quarantine(until: try time())
    case let other: throw wrong(other)
    }
  }
}
