import Logging
import RelayCore
import RelayMemoryStore
import Synchronization

@testable import RelayEngine

/// A running relay over a store in memory, with a provider that takes every push.
struct World {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let topic = "com.example.notes"
  static let route = RouteKey(scope: scope, transport: .apns, topic: topic)

  let store: MemoryStore
  let provider = WorkingProvider()
  let engine: Engine

  /// - Parameters:
  ///   - sender: takes the pushes in place of `provider`.
  ///   - front: what the engine is given in place of the store itself.
  init(
    _ store: MemoryStore = MemoryStore(), notifier: any ServiceNotifier = SilentSupervisor(),
    sender: (any PushSender)? = nil, clock: any ClockReader = WorkingClock(),
    front: (any Store)? = nil, _ change: (inout RelaySettings) -> Void = { _ in }
  ) {
    self.store = store
    var settings = RelaySettings()
    settings.policy.window = .zero
    settings.drainGrace = .seconds(1)
    change(&settings)
    let random = Mutex(SystemRandomNumberGenerator())
    engine = Engine(
      store: front ?? store,
      dependencies: Engine.Dependencies(
        clock: clock, keys: WorkingKeys(), senders: [Self.route: sender ?? provider],
        notifier: notifier,
        random: { random.withLock { $0.next() } }),
      settings: settings, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Runs the engine beside `body`, and stops it afterwards.
  ///
  /// - Parameter thread: runs the loop; `nil` means that the loop runs where all tasks run.
  func run(
    on thread: (any TaskExecutor)? = nil,
    _ body: @escaping @Sendable (Engine) async throws -> Void
  ) async throws {
    let engine = engine
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask(executorPreference: thread) { try await engine.run() }
      try await Self.untilOpen(engine)
      try await body(engine)
      engine.stop()
      try await group.waitForAll()
    }
  }

  /// Returns when the engine accepts facts, that is, after recovery.
  private static func untilOpen(_ engine: Engine) async throws {
    while true {
      do throws(Unavailable) {
        let unknown = Unregistration(
          scope: scope, user: UserID("_nobody"),
          device: .client(ClientID(Identifier(high: 0, low: 0))))
        _ = try await engine.submit([.unregister(unknown)])
        return
      } catch {
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  static func client(_ number: UInt64) -> ClientID { ClientID(Identifier(high: 1, low: number)) }

  static func registration(_ user: String, _ number: UInt64, token: UInt8) -> Fact {
    .register(
      Registration(
        scope: scope, user: UserID(user), client: client(number),
        address: Address(transport: .apns, topic: topic, token: [token])))
  }

  static func zoneSubscription(_ user: String, _ zone: ZoneID) -> Fact {
    let subscription = Subscription(
      id: SubscriptionID("s-\(zone.name)"), database: .private,
      rule: .zone(zone, recordType: nil), info: NotificationInfo())
    return .modify(
      SubscriptionsRequest(
        scope: scope, user: UserID(user), database: .private, operations: [.save(subscription)]))
  }

  static func change(
    _ number: UInt64, _ zone: ZoneID, record: String = "A", event: Change.Event? = nil,
    author: UInt64? = nil
  ) -> Fact {
    .change(
      Change(
        scope: scope, database: .private, zone: zone,
        event: event ?? .record(RecordChange(verb: .created, name: record, type: "Note")),
        author: author.map { Change.Author(user: zone.owner, client: client($0)) },
        time: Instant(milliseconds: 5),
        notification: Identifier(high: 9, low: number), fingerprint: number))
  }
}

/// A provider that takes every push, and resumes the callers that wait for a number of pushes.
final class WorkingProvider: PushSender {
  private struct State {
    var pushes: [Push] = []
    var verdicts: [Verdict] = []
    var waiters: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  /// Sets the next answers, in order; after them everything is delivered.
  func answer(_ verdicts: [Verdict]) { state.withLock { $0.verdicts = verdicts } }

  var pushes: [Push] { state.withLock { $0.pushes } }

  var health: SenderHealth {
    var health = SenderHealth()
    health.connections = 1
    return health
  }

  func send(
    _ push: Push, _ handover: Handover, answer: @escaping @Sendable (Verdict) -> Void
  ) {
    let (verdict, waiters) = state.withLock { state in
      state.pushes.append(push)
      let count = state.pushes.count
      let due = state.waiters.filter { $0.count <= count }.map(\.1)
      state.waiters.removeAll { $0.count <= count }
      return (state.verdicts.isEmpty ? Verdict.delivered : state.verdicts.removeFirst(), due)
    }
    answer(verdict)
    for waiter in waiters { waiter.resume() }
  }

  func run() async {}

  /// Returns when the provider took `count` pushes in all.
  func took(_ count: Int) async {
    await withCheckedContinuation { (waiter: CheckedContinuation<Void, Never>) in
      let isThere = state.withLock { state in
        if state.pushes.count >= count { return true }
        state.waiters.append((count, waiter))
        return false
      }
      if isThere { waiter.resume() }
    }
  }
}

/// The continuous clock, used as wall clock and as boot clock.
struct WorkingClock: ClockReader {
  private let start = ContinuousClock.now

  private var elapsed: Int64 {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }

  func wall() -> Instant { Instant(milliseconds: 1_700_000_000_000 + elapsed) }
  func boot() -> Instant { Instant(milliseconds: elapsed) }
}

/// A wall clock and a boot clock that run. Tests can set the wall clock ahead or back, and move
/// both clocks forward.
final class ShiftedClock: ClockReader {
  private let clock = WorkingClock()
  private let shift = Mutex((wall: Span.zero, boot: Span.zero))

  /// Sets the wall clock; the boot clock does not change.
  func setWall(ahead: Span) { shift.withLock { $0.wall = ahead } }
  /// Moves the wall clock and the boot clock forward.
  func pass(_ span: Span) {
    shift.withLock {
      $0.wall = $0.wall + span
      $0.boot = $0.boot + span
    }
  }

  func wall() -> Instant { clock.wall() + shift.withLock { $0.wall } }
  func boot() -> Instant { clock.boot() + shift.withLock { $0.boot } }
}

struct WorkingKeys: PushKeys {
  func pushID(device: DeviceKey, wake: UInt32) -> Identifier {
    Identifier(high: device.client.bits.low, low: UInt64(wake))
  }

  func collapseID(_ value: String) -> String { value }
}

struct SilentSupervisor: ServiceNotifier {
  func ready() {}
  func status(_ line: String) {}
  func beat() {}
  func stopping(grace: Span) {}
}

final class Flag: Sendable {
  private let state = Mutex(false)
  var isSet: Bool { state.withLock { $0 } }
  func set() { state.withLock { $0 = true } }
}

extension Engine {
  /// Waits until `place` may be read, at most as long as the engine lets a request wait.
  func visible(_ place: ReadTarget) async throws(Unavailable) {
    try await visible([place], until: .never)
  }
}
