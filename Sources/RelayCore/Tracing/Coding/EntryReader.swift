/// Reads the entries of a `TraceFrame`.
package struct EntryReader {
  var bytes: ByteReader
  /// The scopes that the frame has named so far; `scope` is the scope of the present batch.
  private var scopes: [Scope] = []
  private var scope: Scope?
  private var last = LastNames()

  /// The names that the batch's entries named last, and the time of the last entry.
  private struct LastNames {
    var at: Int64 = 0
    var user: UserID?
    var zone: ZoneID?
    var notification: Identifier?
    var subscription: SubscriptionID?
    var crowdedOut: TracedAlert?
  }

  package init(_ bytes: [UInt8]) { self.bytes = ByteReader(bytes) }

  /// - Throws: `CodingFailure` if the bytes are not what this version writes.
  package mutating func entries(_ count: Int) throws(CodingFailure) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    entries.reserveCapacity(min(count, bytes.remaining))
    while bytes.remaining > 0 { try batch(&entries, atMost: count) }
    guard entries.count == count else { throw bytes.failure(.truncated, Self.part) }
    return entries
  }

  private mutating func batch(
    _ entries: inout [TraceEntry], atMost most: Int
  ) throws(CodingFailure) {
    scope = try batchScope()
    last = LastNames()
    let count = try count()
    guard entries.count + count <= most else { throw bytes.failure(.trailing, Self.part) }
    for _ in 0..<count { entries.append(try entry()) }
  }

  private mutating func batchScope() throws(CodingFailure) -> Scope? {
    let number: Int = try number()
    if number == 0 { return nil }
    if number <= scopes.count { return scopes[number - 1] }
    guard number == scopes.count + 1 else {
      throw bytes.failure(.number(UInt64(number)), "Scope")
    }
    scopes.append(try bytes.value())
    return scopes.last
  }

  static let part = "TraceEntry"

  mutating func wrong(_ number: UInt8) -> CodingFailure {
    bytes.failure(.number(UInt64(number)), Self.part)
  }

  private mutating func entry() throws(CodingFailure) -> TraceEntry {
    last.at = last.at &+ (try signed())
    return TraceEntry(at: Instant(milliseconds: last.at), try event())
  }

  private mutating func event() throws(CodingFailure) -> TraceEvent {
    let kind: EntryKind = try bytes.raw()
    switch kind {
    case .began: return .began
    case .lost: return .lost(try flag() ? try number() : nil)
    case .change: return .change(try change())
    case .moved: return .moved(try move())
    case .matched: return .matched(try match())
    case .device:
      let user = try user()
      let key = DeviceKey(scope: user.scope, user: user.user, client: try bytes.value())
      return .device(key, try deviceEvent())
    case .user: return .user(try user(), try userEvent())
    case .route:
      let route = RouteKey(scope: try inScope(), transport: try bytes.raw(), topic: try text())
      return .route(route, try routeEvent())
    }
  }

  // MARK: Names

  mutating func byte() throws(CodingFailure) -> UInt8 { try bytes.byte(Self.part) }
  mutating func flag() throws(CodingFailure) -> Bool { try bytes.flag(Self.part) }
  mutating func text() throws(CodingFailure) -> String { try bytes.text(Self.part) }
  mutating func count() throws(CodingFailure) -> Int { try bytes.count(Self.part) }
  mutating func signed() throws(CodingFailure) -> Int64 { try bytes.signed(Self.part) }

  /// Reads a number that must fit into the type `Number`.
  mutating func number<Number: FixedWidthInteger>() throws(CodingFailure) -> Number {
    let wide = try bytes.number(Self.part)
    guard let number = Number(exactly: wide) else { throw bytes.failure(.number(wide), Self.part) }
    return number
  }

  /// The scope of an entry that must have one.
  func inScope() throws(CodingFailure) -> Scope {
    guard let scope else { throw bytes.failure(.number(0), "Scope") }
    return scope
  }

  mutating func user() throws(CodingFailure) -> Users.Key {
    let scope = try inScope()
    let user = try name(last.user)
    last.user = user
    return Users.Key(scope: scope, user: user)
  }

  mutating func zone() throws(CodingFailure) -> ZoneID {
    let zone = try name(last.zone)
    last.zone = zone
    return zone
  }

  mutating func notification() throws(CodingFailure) -> Identifier {
    let notification = try name(last.notification)
    last.notification = notification
    return notification
  }

  mutating func subscription() throws(CodingFailure) -> SubscriptionID {
    let subscription = try name(last.subscription)
    last.subscription = subscription
    return subscription
  }

  /// Reads a name. If the entry states that the name has not changed, the result is the last name
  /// of the same kind.
  private mutating func name<Name: ByteCoded>(_ last: Name?) throws(CodingFailure) -> Name {
    guard try flag() else { return try bytes.value() }
    guard let last else { throw wrong(1) }
    return last
  }

  mutating func time() throws(CodingFailure) -> Instant? {
    guard try flag() else { return nil }
    return Instant(milliseconds: last.at &+ (try signed()))
  }

  private mutating func place() throws(CodingFailure) -> FactPlace {
    FactPlace(partition: try bytes.value(), ordinal: try bytes.value())
  }

  // MARK: Changes

  private mutating func change() throws(CodingFailure) -> TracedChange {
    let notification = try notification()
    let scope = try inScope()
    let database: Database = try bytes.raw()
    let zone = try zone()
    let event = try changeEvent()
    var author: Change.Author?
    if try flag() {
      author = Change.Author(user: try bytes.value(), client: try bytes.optional())
    }
    return TracedChange(
      notification: notification, scope: scope, database: database, zone: zone, event: event,
      author: author, place: try place(), isSuperseded: try flag(), isReplayed: try flag())
  }

  private mutating func changeEvent() throws(CodingFailure) -> Change.Event {
    switch try byte() {
    case 20: return .granted(try bytes.value())
    case 21: return .revoked(try bytes.value())
    case let number:
      if let change = ZoneChange(rawValue: number &- 10) { return .zone(change) }
      guard let verb = RecordChange.Verb(rawValue: number) else { throw wrong(number) }
      return .record(RecordChange(verb: verb, name: try text(), type: try text()))
    }
  }

  private mutating func move() throws(CodingFailure) -> TracedMove {
    let (notification, scope, place) = (try notification(), try inScope(), try place())
    let step: TracedMove.Step
    switch try byte() {
    case 1: step = .forwarded(try bytes.list())
    case 2: step = .reached
    case 3: step = .spreading
    case 4: step = .spread
    case let other: throw wrong(other)
    }
    return TracedMove(notification: notification, scope: scope, place: place, step: step)
  }

  private mutating func match() throws(CodingFailure) -> TracedMatch {
    var match = TracedMatch(
      notification: try notification(), user: try user(), subscription: try subscription(),
      database: try bytes.raw(), zone: try zone(), position: try bytes.value(),
      zonePosition: try bytes.value(), devices: [])
    for _ in 0..<(try count()) {
      match.devices.append(TracedMatch.Device(client: try bytes.value(), outcome: try outcome()))
    }
    return match
  }

  private mutating func outcome() throws(CodingFailure) -> TracedMatch.Outcome {
    switch try byte() {
    case 1: return .own
    case 2: return .retired
    case 3:
      let (pending, gathers) = (try part(), try time())
      guard try flag() else { return .pends(pending, gathers: gathers) }
      return .pends(
        pending, gathers: gathers,
        instead: TracedMatch.Instead(
          replaced: try flag() ? try alert() : nil,
          crowdedOut: try flag() ? try crowdedOut() : nil, left: try flag() ? try part() : nil))
    case let other: throw wrong(other)
    }
  }

  mutating func part() throws(CodingFailure) -> TracedPart {
    switch try byte() {
    case 1: return .zone(try zone(), try bytes.raw())
    case 2: return .query
    case 3: return .many
    case 4: return .alert(try alert())
    case let other: throw wrong(other)
    }
  }

  private mutating func crowdedOut() throws(CodingFailure) -> TracedAlert {
    if try !flag() {
      last.crowdedOut = TracedAlert(
        notification: try bytes.value(), subscription: try bytes.value())
    }
    guard let alert = last.crowdedOut else { throw wrong(1) }
    return alert
  }

  mutating func alert() throws(CodingFailure) -> TracedAlert {
    TracedAlert(notification: try notification(), subscription: try subscription())
  }
}
