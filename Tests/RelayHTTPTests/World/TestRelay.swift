@testable import RelayCore
import RelayEngine
import RelayMemory
import Synchronization

/// A small working relay: the real core, stepped at once, over feeds in memory. A read shows only
/// facts that a reader has waited for, so tests detect an endpoint that does not wait.
final class TestRelay: RelayService, FeedReader {
  struct Conduct {
    var refusal: Unavailable?
    var readRefusal: Unavailable?
    var readFailure: StoreError?
    var health = HealthSnapshot()
    var readiness = Readiness.ready
    /// The relay calls this at each read that does not fail with `readFailure`.
    var onRead: @Sendable () -> Void = {}
    /// The relay awaits this before it reads a page. The argument is the user who reads the page.
    var onPage: @Sendable (UserID) async -> Void = { _ in }
    /// The relay awaits this before it looks up a device.
    var onDevice: @Sendable () async -> Void = {}
    /// The relay awaits this before it takes facts.
    var onSubmit: @Sendable () async -> Void = {}
  }

  struct Seen {
    var facts: [Fact] = []
    /// For each fact, the submitter on whose behalf it came.
    var submitters: [Submitter] = []
    var readings: [Reading] = []
    var wakes: [UInt32] = []
    var acknowledging: [DeviceKey] = []
    /// Courier connections that opened, each with the last wake that its device named, and courier
    /// connections that ended (`left`).
    var connected: [(device: DeviceKey, connection: UInt64, after: UInt32?)] = []
    var left: [(connection: UInt64, isExpectedBack: Bool)] = []
    /// The deadlines up to which readers wait for folds.
    var waitedUntil: [Instant] = []
    var isDraining = false
    /// How often the readiness was read (`looks`), and how often the whole state (`counts`).
    var looks = 0
    var counts = 0
  }

  private let world: Mutex<TestWorld>
  private let conduct: Mutex<Conduct>
  private let log = Mutex(Seen())

  init(limits: Limits = Limits()) {
    var conduct = Conduct()
    conduct.health.isReady = true
    self.conduct = Mutex(conduct)
    world = Mutex(TestWorld(limits: limits))
  }

  var seen: Seen { log.withLock { $0 } }
  func behave(_ change: (inout Conduct) -> Void) { conduct.withLock { change(&$0) } }
  func restoreFromCopy() { world.withLock { $0.forgetEras() } }

  func submit(
    _ facts: [Fact], by submitter: Submitter
  ) async throws(Unavailable) -> [Answer] {
    if let refusal = conduct.withLock({ $0.refusal }) { throw refusal }
    await conduct.withLock { $0.onSubmit }()
    log.withLock {
      $0.facts += facts
      $0.submitters += facts.map { _ in submitter }
    }
    return world.withLock { world in facts.map { world.take($0) } }
  }

  func standings(
    of devices: [DeviceKey], zones: [ZoneID]
  ) async throws(Unavailable) -> Standings {
    if let refusal = conduct.withLock({ $0.refusal }) { throw refusal }
    return Standings(
      devices: devices.map { Standing(device: $0, at: Instant(milliseconds: 1_000)) }, place: .max)
  }

  func known(_ changes: [Change]) async throws(Unavailable) -> [Bool] {
    if let refusal = conduct.withLock({ $0.refusal }) { throw refusal }
    return world.withLock { world in changes.map { world.knows($0) } }
  }

  func visible(_ places: [ReadTarget], until: Instant) async throws(Unavailable) {
    if let refusal = conduct.withLock({ $0.readRefusal }) { throw refusal }
    log.withLock { $0.waitedUntil.append(until) }
    world.withLock { $0.fold() }
  }

  func served(_ reading: Reading) { log.withLock { $0.readings.append(reading) } }

  func acknowledged(wake: UInt32, by device: DeviceKey) {
    log.withLock {
      $0.wakes.append(wake)
      $0.acknowledging.append(device)
    }
  }

  func connected(_ device: DeviceKey, connection: UInt64, after: UInt32?) -> Bool {
    log.withLock { $0.connected.append((device, connection, after)) }
    return true
  }

  func left(_ device: DeviceKey, connection: UInt64, isExpectedBack: Bool) {
    log.withLock { $0.left.append((connection, isExpectedBack)) }
  }

  var readiness: Readiness {
    log.withLock { $0.looks += 1 }
    return conduct.withLock { $0.readiness }
  }

  func health() async -> HealthSnapshot {
    log.withLock { $0.counts += 1 }
    return conduct.withLock { $0.health }
  }
  func refused(changes: Int) {}

  func drain() { log.withLock { $0.isDraining = true } }

  private func read<Value>(
    _ reading: (borrowing TestWorld) -> Value
  ) throws(StoreError) -> Value {
    let conduct = conduct.withLock { $0 }
    if let failure = conduct.readFailure { throw failure }
    conduct.onRead()
    return world.withLock { reading($0) }
  }

  func page(_ query: PageQuery) async throws(StoreError) -> PageAnswer {
    await conduct.withLock { $0.onPage }(query.reader)
    return try read { $0.stored.page(query) }
  }

  func zones(
    of user: UserID, _ database: Database, in scope: Scope, after zone: ZoneID?, limit: Int
  ) async throws(StoreError) -> [ZoneDigest] {
    try read {
      $0.stored.zones(
        of: FeedKey(scope: scope, kind: .database(user, database)), after: zone, limit: limit)
    }
  }

  func isNearlyFull(_ feed: FeedKey) -> Bool {
    world.withLock { $0.stored.isNearlyFull(feed) }
  }

  func holdings(
    of feed: FeedKey, among subjects: Set<Subject>
  ) async throws(StoreError) -> Holdings {
    try read { $0.stored.holdings(of: feed, among: subjects) }
  }

  func head(of feed: FeedKey) async throws(StoreError) -> FeedCursor {
    try read { $0.stored.head(of: feed) }
  }

  func subscriptions(
    of user: UserID, _ database: Database, in scope: Scope, after serial: Position, limit: Int
  ) async throws(StoreError) -> [SubscriptionRow] {
    try read {
      $0.stored.subscriptions(of: user, database, in: scope, after: serial, limit: limit)
    }
  }

  func subscriptions(
    named ids: [SubscriptionID], of user: UserID, _ database: Database, in scope: Scope
  ) async throws(StoreError) -> [Subscription] {
    try read { $0.stored.subscriptions(named: ids, of: user, database, in: scope) }
  }

  func devices(
    of user: UserID?, in scope: Scope?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try read { world in
      let all = world.stored.devices { key in
        (user == nil || key.user == user) && (scope == nil || key.scope == scope)
      }
      return Array(all.prefix(limit))
    }
  }

  func devices(
    of user: UserID, in scope: Scope, after client: ClientID?, limit: Int
  ) async throws(StoreError) -> [DeviceRow] {
    try read { world in
      let rest = world.stored.devices { key in
        key.user == user && key.scope == scope && (client.map { key.client > $0 } ?? true)
      }
      return Array(rest.prefix(limit))
    }
  }

  func devices(client: ClientID) async throws(StoreError) -> [DeviceRow] {
    await conduct.withLock { $0.onDevice }()
    return try read { $0.stored.devices { $0.client == client } }
  }
}
