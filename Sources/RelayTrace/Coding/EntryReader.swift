import RelayCore
import RelayEngine

/// Reads what `EntryWriter` wrote.
struct EntryReader {
  var bytes: ByteReader
  private var scopes: [Scope] = []
  private var last = EntryWriter.LastNames()

  init(_ bytes: [UInt8]) { self.bytes = ByteReader(bytes) }

  /// - Throws: `CodingFailure` if the bytes are not what this version writes.
  mutating func entries(_ count: Int) throws(CodingFailure) -> [TraceEntry] {
    var entries: [TraceEntry] = []
    entries.reserveCapacity(min(count, bytes.remaining))
    for _ in 0..<count { entries.append(try entry()) }
    guard bytes.remaining == 0 else { throw bytes.failure(.trailing, Self.part) }
    return entries
  }

  static let part = "TraceEntry"

  mutating func wrong(_ number: UInt8) -> CodingFailure {
    bytes.failure(.number(UInt64(number)), Self.part)
  }

  private mutating func entry() throws(CodingFailure) -> TraceEntry {
    last.at = last.at &+ (try bytes.signed(Self.part))
    let at = Instant(milliseconds: last.at)
    let kind = try bytes.byte(Self.part)
    switch kind {
    case 1: return TraceEntry(at: at, .began)
    case 2:
      return TraceEntry(at: at, .lost(try bytes.flag(Self.part) ? try int() : nil))
    case 3: return TraceEntry(at: at, .change(try change()))
    case 4: return TraceEntry(at: at, .moved(try move()))
    case 5: return TraceEntry(at: at, .matched(try match()))
    case 6:
      let user = try user()
      let key = DeviceKey(scope: user.scope, user: user.user, client: try bytes.value())
      return TraceEntry(at: at, .device(key, try deviceEvent()))
    case 7:
      let user = try user()
      return TraceEntry(at: at, .user(user, try userEvent()))
    case 8:
      let route = RouteKey(
        scope: try scope(), transport: try bytes.raw(), topic: try bytes.text(Self.part))
      return TraceEntry(at: at, .route(route, try routeEvent()))
    default: throw wrong(kind)
    }
  }

  // MARK: Names

  /// Reads a number that an `Int` holds.
  mutating func int() throws(CodingFailure) -> Int {
    let number = try bytes.number(Self.part)
    guard let int = Int(exactly: number) else { throw bytes.failure(.number(number), Self.part) }
    return int
  }

  mutating func wakeNumber() throws(CodingFailure) -> UInt32 {
    let number = try bytes.number(Self.part)
    guard let wake = UInt32(exactly: number) else {
      throw bytes.failure(.number(number), Self.part)
    }
    return wake
  }

  mutating func scope() throws(CodingFailure) -> Scope {
    let index = try int()
    if index < scopes.count { return scopes[index] }
    guard index == scopes.count else { throw bytes.failure(.number(UInt64(index)), Self.part) }
    scopes.append(try bytes.value())
    return scopes[index]
  }

  mutating func user() throws(CodingFailure) -> Users.Key {
    if try bytes.flag(Self.part) {
      guard let user = last.user else { throw wrong(1) }
      return user
    }
    let user = Users.Key(scope: try scope(), user: try bytes.value())
    last.user = user
    return user
  }

  mutating func zone() throws(CodingFailure) -> ZoneID {
    if try bytes.flag(Self.part) {
      guard let zone = last.zone else { throw wrong(1) }
      return zone
    }
    let zone: ZoneID = try bytes.value()
    last.zone = zone
    return zone
  }

  mutating func notification() throws(CodingFailure) -> Identifier {
    if try bytes.flag(Self.part) {
      guard let notification = last.notification else { throw wrong(1) }
      return notification
    }
    let notification: Identifier = try bytes.value()
    last.notification = notification
    return notification
  }

  mutating func time() throws(CodingFailure) -> Instant? {
    guard try bytes.flag(Self.part) else { return nil }
    return Instant(milliseconds: last.at &+ (try bytes.signed(Self.part)))
  }

  private mutating func place() throws(CodingFailure) -> FactPlace {
    FactPlace(partition: try bytes.value(), ordinal: try bytes.value())
  }

  // MARK: Changes

  private mutating func change() throws(CodingFailure) -> TracedChange {
    let notification = try notification()
    let scope = try scope()
    let database: Database = try bytes.raw()
    let zone = try zone()
    let kind = try changeKind()
    var author: Change.Author?
    if try bytes.flag(Self.part) {
      author = Change.Author(user: try bytes.value(), client: try bytes.optional())
    }
    return TracedChange(
      notification: notification, scope: scope, database: database, zone: zone, kind: kind,
      author: author, place: try place(), isSuperseded: try bytes.flag(Self.part),
      isReplayed: try bytes.flag(Self.part))
  }

  private mutating func changeKind() throws(CodingFailure) -> TracedChange.Kind {
    let number = try bytes.byte(Self.part)
    switch number {
    case 20: return .granted(try bytes.value())
    case 21: return .revoked(try bytes.value())
    default: break
    }
    if number > 10 {
      guard let what = ZoneChange(rawValue: number - 10) else { throw wrong(number) }
      return .zone(what)
    }
    guard let verb = RecordChange.Verb(rawValue: number) else { throw wrong(number) }
    return .record(name: try bytes.text(Self.part), type: try bytes.text(Self.part), verb)
  }

  private mutating func move() throws(CodingFailure) -> TracedMove {
    let (notification, scope, place) = (try notification(), try scope(), try place())
    let number = try bytes.byte(Self.part)
    let step: TracedMove.Step
    switch number {
    case 1: step = .forwarded(try bytes.list())
    case 2: step = .reached
    case 3: step = .spreading
    case 4: step = .spread
    default: throw wrong(number)
    }
    return TracedMove(notification: notification, scope: scope, place: place, step)
  }

  private mutating func match() throws(CodingFailure) -> TracedMatch {
    var match = TracedMatch(
      notification: try notification(), user: try user(), subscription: try bytes.value(),
      database: try bytes.raw(), zone: try zone(), position: try bytes.value(),
      zonePosition: try bytes.value(), devices: [])
    for _ in 0..<(try bytes.count(Self.part)) {
      match.devices.append(TracedMatch.Device(client: try bytes.value(), try outcome()))
    }
    return match
  }

  private mutating func outcome() throws(CodingFailure) -> TracedMatch.Outcome {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .own
    case 2: return .retired
    case 3:
      let (part, gathers) = (try part(), try time())
      let kind = try bytes.byte(Self.part)
      switch kind {
      case 0: return .pends(part, gathers: gathers, instead: nil)
      case 1: return .pends(part, gathers: gathers, instead: .replaces(try notification()))
      case 2: return .pends(part, gathers: gathers, instead: .crowdsOut(try notification()))
      default: throw wrong(kind)
      }
    default: throw wrong(number)
    }
  }

  mutating func part() throws(CodingFailure) -> TracedPart {
    let number = try bytes.byte(Self.part)
    switch number {
    case 1: return .zone(try zone(), try bytes.raw())
    case 2: return .query
    case 3: return .many
    case 4: return .alert(try notification())
    default: throw wrong(number)
    }
  }
}
