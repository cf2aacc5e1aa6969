/// Writes the entries of a batch compactly: the user, zone, notification, or match's or alert's
/// subscription that the batch named last is not written again.
struct EntryWriter: Sendable {
  var bytes = ByteWriter()
  private(set) var count = 0
  private var first = Instant.zero
  /// How many bytes the scope takes. `container` is where the scope's container stands; `nil` if
  /// the batch has no scope.
  private var scopeBytes = 0
  private var container: Range<Int>?
  private var last = LastNames()

  /// The names that the batch's entries named last, as the places of their bytes, and the time of
  /// the last entry.
  private struct LastNames {
    var at: Int64 = 0
    var user: Range<Int>?
    var zone: (name: Range<Int>, owner: Range<Int>)?
    var notification: Identifier?
    var subscription: Range<Int>?
    /// The alert that last gave way to others; every device of a match names it.
    var crowdedOut: (notification: Identifier, subscription: Range<Int>)?
  }

  /// Begins a batch.
  ///
  /// - Parameters:
  ///   - scope: the scope of the batch's entries; `nil` if no entry has a scope.
  ///   - at: when the first entry was made.
  ///   - capacity: bytes for which room is made at once.
  mutating func begin(_ scope: Scope?, at: Instant, capacity: Int = 256) {
    bytes = ByteWriter(capacity: capacity)
    (count, first, last) = (0, at, LastNames())
    container = scope.map { text($0.container) }
    if let scope { bytes.byte(scope.environment.rawValue) }
    scopeBytes = bytes.bytes.count
  }

  /// Whether the batch can have an entry of this scope.
  func takes(_ scope: Scope?) -> Bool {
    guard let scope else { return true }
    // Behind the container stands the environment.
    guard let container, bytes.bytes[container.upperBound] == scope.environment.rawValue else {
      return false
    }
    return bytes.holds(scope.container, at: container)
  }

  /// Bytes beyond which a batch ends. Two batches fit into a frame of the recorder.
  static let full = 7_680

  var isFull: Bool { bytes.bytes.count >= Self.full }

  /// Returns the batch, and empties the writer.
  mutating func take() -> TraceBatch {
    let taken = self
    self = EntryWriter()
    return TraceBatch(
      count: taken.count, first: taken.first, bytes: taken.bytes.bytes,
      scopeBytes: taken.scopeBytes)
  }

  /// Begins an entry.
  mutating func begin(_ kind: EntryKind, at now: Instant) {
    count += 1
    bytes.signed(now.milliseconds &- last.at)
    last.at = now.milliseconds
    bytes.byte(kind.rawValue)
  }

  /// Begins an entry of a device; the caller writes the event next.
  mutating func beginDevice(_ client: ClientID, of user: UserID, at now: Instant) {
    begin(.device, at: now)
    self.user(user)
    bytes.value(client)
  }

  mutating func write(_ entry: TraceEntry) {
    switch entry.event {
    case .began: begin(.began, at: entry.at)
    case .lost(let lost):
      begin(.lost, at: entry.at)
      bytes.flag(lost != nil)
      if let lost { bytes.count(lost) }
    case .change(let change): write(change, at: entry.at)
    case .moved(let move):
      begin(.moved, at: entry.at)
      write(move)
    case .matched(let match): write(match, at: entry.at)
    case .device(let key, let event):
      beginDevice(key.client, of: key.user, at: entry.at)
      write(event)
    case .user(let key, let event):
      begin(.user, at: entry.at)
      user(key.user)
      write(event)
    case .route(let route, let event):
      begin(.route, at: entry.at)
      bytes.byte(route.transport.rawValue)
      bytes.text(route.topic)
      write(event)
    }
  }

  // MARK: Names

  mutating func user(_ user: UserID) {
    if let written = last.user, bytes.holds(user.name, at: written) { return bytes.flag(true) }
    bytes.flag(false)
    last.user = text(user.name)
  }

  mutating func subscription(_ id: SubscriptionID) {
    if let written = last.subscription, bytes.holds(id.name, at: written) {
      return bytes.flag(true)
    }
    bytes.flag(false)
    last.subscription = text(id.name)
  }

  mutating func zone(_ zone: ZoneID) {
    if let written = last.zone, bytes.holds(zone.name, at: written.name),
      bytes.holds(zone.owner.name, at: written.owner)
    {
      return bytes.flag(true)
    }
    bytes.flag(false)
    last.zone = (text(zone.name), text(zone.owner.name))
  }

  mutating func crowdedOut(_ alert: TracedAlert) {
    if let written = last.crowdedOut, written.notification == alert.notification,
      bytes.holds(alert.subscription.name, at: written.subscription)
    {
      return bytes.flag(true)
    }
    bytes.flag(false)
    bytes.value(alert.notification)
    last.crowdedOut = (alert.notification, text(alert.subscription.name))
  }

  /// Writes the text, and returns where its bytes stand.
  private mutating func text(_ text: String) -> Range<Int> {
    bytes.text(text)
    let end = bytes.bytes.count
    return end - text.utf8.count..<end
  }

  mutating func notification(_ notification: Identifier) {
    let isSame = last.notification == notification
    bytes.flag(isSame)
    guard !isSame else { return }
    bytes.value(notification)
    last.notification = notification
  }

  /// Writes a time as its distance from the entry's time. Most such times are soon after the entry.
  mutating func time(_ time: Instant?) {
    bytes.flag(time != nil)
    if let time { bytes.signed(time.milliseconds &- last.at) }
  }
}
