import RelayCore
import RelayEngine

/// Writes trace entries compactly: names that an entry has in common with the entry before, or with
/// an earlier entry of the same frame, are written once. Each frame has a writer of its own, so a
/// frame can be read alone.
struct EntryWriter {
  var bytes: ByteWriter
  private(set) var count = 0
  private var scopes: [Scope] = []
  private var last = LastNames()

  /// What the entry before named.
  struct LastNames {
    var at: Int64 = 0
    var user: Users.Key?
    var zone: ZoneID?
    var notification: Identifier?
  }

  /// - Parameter capacity: bytes for which room is made at once.
  init(capacity: Int = 4_096) { bytes = ByteWriter(capacity: capacity) }

  mutating func write(_ entry: TraceEntry) {
    count += 1
    bytes.signed(entry.at.milliseconds &- last.at)
    last.at = entry.at.milliseconds
    switch entry.event {
    case .began: bytes.byte(1)
    case .lost(let lost):
      bytes.byte(2)
      bytes.flag(lost != nil)
      if let lost { bytes.count(lost) }
    case .change(let change):
      bytes.byte(3)
      write(change)
    case .moved(let move):
      bytes.byte(4)
      write(move)
    case .matched(let match):
      bytes.byte(5)
      write(match)
    case .device(let key, let event):
      bytes.byte(6)
      user(Users.Key(scope: key.scope, user: key.user))
      bytes.value(key.client)
      write(event)
    case .user(let key, let event):
      bytes.byte(7)
      user(key)
      write(event)
    case .route(let route, let event):
      bytes.byte(8)
      scope(route.scope)
      bytes.byte(route.transport.rawValue)
      bytes.text(route.topic)
      write(event)
    }
  }

  // MARK: Names

  mutating func scope(_ scope: Scope) {
    if let known = scopes.firstIndex(of: scope) { return bytes.count(known) }
    bytes.count(scopes.count)
    bytes.value(scope)
    scopes.append(scope)
  }

  mutating func user(_ key: Users.Key) {
    let isSame = last.user == key
    bytes.flag(isSame)
    guard !isSame else { return }
    scope(key.scope)
    bytes.value(key.user)
    last.user = key
  }

  mutating func zone(_ zone: ZoneID) {
    let isSame = last.zone == zone
    bytes.flag(isSame)
    guard !isSame else { return }
    bytes.value(zone)
    last.zone = zone
  }

  mutating func notification(_ notification: Identifier) {
    let isSame = last.notification == notification
    bytes.flag(isSame)
    guard !isSame else { return }
    bytes.value(notification)
    last.notification = notification
  }

  private mutating func place(_ place: FactPlace) {
    bytes.value(place.partition)
    bytes.value(place.ordinal)
  }

  // MARK: Changes

  private mutating func write(_ change: TracedChange) {
    notification(change.notification)
    scope(change.scope)
    bytes.byte(change.database.rawValue)
    zone(change.zone)
    switch change.kind {
    case .record(let name, let type, let verb):
      bytes.byte(verb.rawValue)
      bytes.text(name)
      bytes.text(type)
    case .zone(let what): bytes.byte(10 + what.rawValue)
    case .granted(let user):
      bytes.byte(20)
      bytes.value(user)
    case .revoked(let user):
      bytes.byte(21)
      bytes.value(user)
    }
    bytes.flag(change.author != nil)
    if let author = change.author {
      bytes.value(author.user)
      bytes.optional(author.client)
    }
    place(change.place)
    bytes.flag(change.isSuperseded)
    bytes.flag(change.isReplayed)
  }

  private mutating func write(_ move: TracedMove) {
    notification(move.notification)
    scope(move.scope)
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

  private mutating func write(_ match: TracedMatch) {
    notification(match.notification)
    user(match.user)
    bytes.value(match.subscription)
    bytes.byte(match.database.rawValue)
    zone(match.zone)
    bytes.value(match.position)
    bytes.value(match.zonePosition)
    bytes.count(match.devices.count)
    for device in match.devices {
      bytes.value(device.client)
      write(device.outcome)
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
      switch instead {
      case nil: bytes.byte(0)
      case .replaces(let older):
        bytes.byte(1)
        notification(older)
      case .crowdsOut(let older):
        bytes.byte(2)
        notification(older)
      }
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
      notification(shown)
    }
  }

  /// A time, mostly soon after the entry.
  mutating func time(_ time: Instant?) {
    bytes.flag(time != nil)
    if let time { bytes.signed(time.milliseconds &- last.at) }
  }
}
