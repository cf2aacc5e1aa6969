@testable import RelayCore

/// A traced relay of one user, with a journal and folds that succeed at once, and the explanations
/// that an operator would get of that user's changes.
struct TraceRig: ~Copyable {
  var relay: Relay
  private let limits: Limits
  private let policy: WakePolicy
  var now = Sample.start
  private(set) var entries: [TraceEntry] = []
  private var ordinals = [Ordinal](repeating: .zero, count: PartitionID.count)
  private(set) var pushes: [PushAttempt] = []
  private var number: UInt64 = 0

  init(
    limits: Limits = Limits(), isTraced: Bool = true,
    _ change: (inout WakePolicy) -> Void = { _ in }
  ) {
    var policy = WakePolicy()
    change(&policy)
    (self.limits, self.policy) = (limits, policy)
    relay = Relay([], limits: limits, policy: policy, isTraced: isTraced)
    _ = relay.recovered()
  }

  /// Begins the next life of the relay, with one partition that has these tables.
  mutating func restart(_ tables: PartitionTables) {
    relay = Relay([tables], limits: limits, policy: policy, isTraced: true)
    _ = relay.recovered()
  }

  /// A relay with a device that is registered and subscribed to the zone.
  static func subscribed(
    limits: Limits = Limits(), visible: Bool = false, runsApp: Bool = false,
    _ change: (inout WakePolicy) -> Void = { _ in }
  ) -> TraceRig {
    var rig = TraceRig(limits: limits, change)
    rig.register()
    rig.save(visible: visible, runsApp: runsApp)
    rig.fold()
    return rig
  }

  /// A position after everything.
  static let head = Position(bits: .max)
  static let own = Change.Author(user: Sample.owner, client: Sample.client(1))
  static let device = DeviceKey(scope: Sample.scope, user: Sample.owner, client: Sample.client(1))

  /// How many entries `lines()` has returned already. `lines()` returns only later entries, as
  /// lines.
  private var seen = 0
  mutating func lines() -> [String] {
    take()
    defer { seen = entries.count }
    return entries[seen...].map(\.line)
  }

  mutating func take() { entries += relay.takeTrace().flatMap(\.entries) }

  mutating func step(_ fact: Fact) {
    for home in fact.homes {
      let index = Int(home.number)
      ordinals[index] = ordinals[index].next
      var effects: [Effect] = []
      relay.step(fact, in: home, ordinal: ordinals[index], at: now, into: &effects)
    }
    take()
  }

  /// A producer's change, and its notification's id.
  @discardableResult
  mutating func change(
    _ event: Change.Event = .record(.updated), in zone: ZoneID = Sample.zone,
    _ database: Database = .private, by author: Change.Author? = nil, sequence: Int64? = nil,
    as known: Identifier? = nil
  ) -> Identifier {
    number += 1
    let notification = known ?? Sample.nid(number)
    step(
      .change(
        Change(
          scope: Sample.scope, database: database, zone: zone, event: event, author: author,
          sequence: sequence, origin: sequence == nil ? 0 : 1, time: now,
          notification: notification, fingerprint: number)))
    return notification
  }

  mutating func register(
    _ client: UInt64 = 1, of user: UserID = Sample.owner, _ address: Address? = nil
  ) {
    step(
      .register(
        Registration(
          scope: Sample.scope, user: user, client: Sample.client(client),
          address: address ?? Sample.address(UInt8(client)))))
  }

  mutating func unregister(_ client: UInt64 = 1) {
    step(
      .unregister(
        Unregistration(
          scope: Sample.scope, user: Sample.owner, device: .client(Sample.client(client)))))
  }

  mutating func modify(
    _ operation: SubscriptionsRequest.Operation, _ database: Database = .private,
    of user: UserID = Sample.owner
  ) {
    step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: user, database: database, operations: [operation])))
  }

  mutating func save(
    _ id: String = "reading", _ rule: Subscription.Rule = .zone(Sample.zone, recordType: nil),
    _ database: Database = .private, of user: UserID = Sample.owner, visible: Bool = false,
    runsApp: Bool = false
  ) {
    var info = NotificationInfo()
    if visible { info.alert.body = "Hello" }
    info.isContentAvailable = runsApp
    modify(
      .save(Subscription(id: SubscriptionID(id), database: database, rule: rule, info: info)),
      database, of: user)
  }

  @discardableResult
  mutating func fold() -> Cut {
    let cut = relay.cut(at: now)
    var effects: [Effect] = []
    relay.folded(cut, at: now, into: &effects)
    perform(effects)
    return cut
  }

  /// Forwards messages of one partition to another.
  mutating func forward() {
    let cut = relay.cut(at: now)
    var effects: [Effect] = []
    relay.folded(cut, at: now, into: &effects)
    perform(effects)
    for row in cut.partitions.flatMap(\.outbox) {
      let target = row.key.target
      ordinals[Int(target.number)] = ordinals[Int(target.number)].next
      var effects: [Effect] = []
      relay.step(
        .forwarded(Forwarded(source: row.source, serial: row.key.serial, message: row.message)),
        in: target, ordinal: ordinals[Int(target.number)], at: now, into: &effects)
      relay.delivered(row.key, from: row.source)
      take()
    }
  }

  /// Lets time pass, begins the pushes that are due, and folds.
  mutating func wait(_ seconds: Double) {
    now = now + Span(milliseconds: Int64(seconds * 1_000))
    for _ in 0..<3 {
      var effects: [Effect] = []
      relay.wake(at: now, into: &effects)
      perform(effects)
      fold()
    }
  }

  private mutating func perform(_ effects: [Effect]) {
    take()
    for case .push(let attempt) in effects { pushes.append(attempt) }
  }

  /// Ends the last push.
  mutating func end(_ verdict: Verdict = .delivered) {
    guard let push = pushes.popLast() else { return }
    var effects: [Effect] = []
    relay.attemptEnded(push, verdict, at: now, into: &effects)
    perform(effects)
  }

  /// A wake that goes out and is delivered.
  mutating func wake() {
    wait(2)
    end()
  }

  /// The device polls the courier.
  mutating func connect(_ connection: UInt64, after: UInt32? = nil) {
    var effects: [Effect] = []
    relay.connected(Self.device, connection, after: after, at: now, into: &effects)
    perform(effects)
  }

  /// The device's poll was answered.
  mutating func leave(_ connection: UInt64) {
    relay.left(Self.device, connection, isExpectedBack: true, at: now)
  }

  /// Steps all slices of the partition's wide changes.
  mutating func slices(in home: PartitionID) {
    while let slice = relay.partition(home).unfinished.first {
      ordinals[Int(home.number)] = ordinals[Int(home.number)].next
      var effects: [Effect] = []
      relay.step(
        slice, in: home, ordinal: ordinals[Int(home.number)], at: now, into: &effects)
      take()
    }
  }

  /// A life of the daemon begins.
  mutating func begin() { entries.append(TraceEntry(at: now, .began)) }

  mutating func forgetEntries() { entries = [] }

  mutating func acknowledge(_ reached: Acknowledged) {
    relay.acknowledged(reached, by: Self.device, at: now)
    take()
  }

  /// Why the change woke the device or did not, in a word, with the wake's number.
  mutating func why(
    _ change: Identifier, _ device: DeviceKey = TraceRig.device, without lost: Range<Int>? = nil
  ) -> String {
    guard let found = explanation(of: change, device, without: lost) else {
      return "no longer known"
    }
    switch found.outcome {
    case .woken(let wake): return "woken \(wake)"
    case .not(let reason): return reason.code
    case .unknown: return "unknown"
    }
  }

  mutating func explanation(
    of change: Identifier, _ device: DeviceKey = TraceRig.device, without lost: Range<Int>? = nil
  ) -> Explanation? {
    take()
    var known = entries
    if let lost { known.replaceSubrange(lost, with: [TraceEntry(at: now, .lost(lost.count))]) }
    let standing = relay.standing(of: device, zones: [Sample.zone], at: now)
    return Explanation.of(change, in: known, standing).last
  }
}

extension TraceEntry {
  /// The entry in a short line for transcripts.
  var line: String {
    switch event {
    case .began: return "began"
    case .lost(let count): return "lost \(count.map(String.init) ?? "?")"
    case .change(let change):
      return "change \(change.notification.low)\(change.isSuperseded ? " superseded" : "")"
    case .moved(let move):
      switch move.step {
      case .forwarded(let partitions): return "forwarded to \(partitions.count)"
      case .reached: return "reached"
      case .spreading: return "spreading"
      case .spread: return "spread"
      }
    case .matched(let match):
      return "\(match.subscription.name) matched \(match.notification.low): "
        + match.devices.map { "\($0.client.bits.low & 0xff) \($0.outcome.line)" }
        .joined(separator: ", ")
    case .device(let key, let event): return "\(key.client.bits.low & 0xff) \(event.line)"
    case .user(_, let event): return event.line
    case .route(_, let event): return "route \(event)"
    }
  }
}

extension TracedMatch.Outcome {
  fileprivate var line: String {
    switch self {
    case .own: return "own"
    case .retired: return "retired"
    case .pends(let part, let gathers, let instead):
      var line = "pends as \(part.line)"
      if let gathers { line += " until \((gathers - Sample.start).milliseconds)" }
      if let older = instead.replaced { line += " in place of \(older.notification.low)" }
      if let older = instead.crowdedOut { line += " crowds out \(older.notification.low)" }
      return line
    }
  }
}

extension TracedPart {
  fileprivate var line: String {
    switch self {
    case .zone(let zone, _): zone.name
    case .query: "query"
    case .many: "many"
    case .alert(let alert): "alert \(alert.notification.low)"
    }
  }
}

extension DeviceEvent {
  fileprivate var line: String {
    switch self {
    case .registered(let transport, _, _, let isNew):
      return "registered \(transport.name)\(isNew ? " anew" : "")"
    case .unregistered: return "unregistered"
    case .retired(let reason): return "retired \(reason)"
    case .waits(let wait, let until):
      return "waits for \(wait) until \((until - Sample.start).milliseconds)"
    case .waitsForConnection: return "waits for a connection"
    case .wake(let wake):
      let names = wake.names.map(\.line).joined(separator: ", ")
      return "wake \(wake.number) \(wake.transport.name)"
        + "\(wake.alertOf != nil ? " alert \(wake.shows.low)" : "") [\(names)] try \(wake.tries) "
        + "\(wake.cause)"
    case .ended(let end):
      let name = "\(end.verdict)".prefix { $0 != "(" }
      let rests = end.rests.map { " rests until \(($0 - Sample.start).milliseconds)" } ?? ""
      return "wake \(end.wake) ended \(name)\(rests)\(end.dropsAlert ? ", alert dropped" : "")"
    case .receipt(.acknowledged(let reached)):
      return "acknowledged \("\(reached)".prefix { $0 != "(" })"
    case .receipt(.connected(let after)): return "connected after \(after)"
    case .receipt(.marked(let read)): return "marked \(read.map(\.low))"
    case .withdrawn(let withdrawal): return "withdrawn \("\(withdrawal)".prefix { $0 != "(" })"
    case .hushed(let alert, let part):
      return "hushed \(alert.notification.low) to \(part.line)"
    }
  }
}

extension UserEvent {
  fileprivate var line: String {
    switch self {
    case .subscribed(let now, let before, _):
      "subscribed \(now.id.name)\(before == nil ? "" : " again")"
    case .unsubscribed(let old, _): "unsubscribed \(old.id.name)"
    case .joined(let zone, _): "joined \(zone.name)"
    case .left(let zone, _): "left \(zone.name)"
    }
  }
}
