import RelayMemory
import Testing

@testable import RelayCore

/// One life of a coordinator over a store in memory, turn by turn. Each action becomes one line,
/// except `dirtied`, `cut`, `feedback`, `trace` and a repeated `admission`.
final class CoordinatorRun {
  private(set) var world: MemoryWorld
  private(set) var now = Sample.start
  /// How far the wall clock is ahead of `now`.
  var wallAhead = Span.zero
  var hasReaders = false
  private(set) var appending: [JournalEntry] = []
  private(set) var folding: Cut?
  private(set) var lastCut: Cut?
  private(set) var pushes: [PushAttempt] = []
  private(set) var trace: [TraceEntry] = []
  /// The scopes whose feedback is durable, for each `feedback` action.
  private(set) var feedback: [Set<Scope>] = []
  private var coordinator: Coordinator
  private var isRefusing = false

  init(
    _ world: MemoryWorld = MemoryWorld(), routes: Set<RouteKey> = [CoordinatorRun.route],
    _ change: (inout RelaySettings) -> Void = { _ in }
  ) {
    var (world, settings) = (world, RelaySettings())
    settings.policy.window = .zero
    settings.trimEvery = .days(1)
    change(&settings)
    let eras = PartitionID.all.map { id in
      (id, world.claim(id, era: UInt64(id.number) + 1))
    }
    var tables = PartitionID.all.map { world.tables(of: $0) }
    tables[0].time = max(tables[0].time, Sample.start)
    var replay = JournalReplay(
      tables, eras: Dictionary(uniqueKeysWithValues: eras), settings: settings)
    for partition in world.partitions { replay.replay(partition.journal) }
    self.world = world
    coordinator = Coordinator(
      replay, settings: settings, routes: routes,
      at: Coordinator.Moment(wall: Sample.start, boot: .zero))
  }

  static let route = RouteKey(scope: Sample.scope, transport: .apns, topic: Sample.topic)

  var reached: Branches { coordinator.reached }
  var counters: Counters { coordinator.counters }
  var issues: [HealthIssue] { coordinator.healthIssues(coordinator.census(at: now)) }

  private var moment: Coordinator.Moment {
    Coordinator.Moment(
      wall: now + wallAhead, boot: Instant(milliseconds: (now - Sample.start).milliseconds))
  }

  /// Makes one turn, `wait` milliseconds after the one before.
  @discardableResult
  func turn(_ inputs: Coordinator.Input..., after wait: Int64 = 0) -> [String] {
    now = now + Span(milliseconds: wait)
    return both(inputs)
  }

  /// Runs both halves of a turn: the coordinator's `handle`, and then its `proceed`.
  private func both(_ inputs: [Coordinator.Input]) -> [String] {
    let begun = coordinator.handle(inputs, hasReaders: hasReaders, at: moment).compactMap(line)
    return begun + coordinator.proceed(hasReaders: hasReaders, at: moment).compactMap(line)
  }

  /// Writes the entries of the last append to the store. The result is the input that reports this.
  func appended() -> Coordinator.Input {
    world.append(appending)
    return .appended(.success(()))
  }

  func folded() -> Coordinator.Input {
    .folded(.success(folding.map { world.fold($0) } ?? []))
  }

  /// Folds once. The first fold begins at once; a later one begins only some time after the fold
  /// before.
  func foldOnce() {
    turn(Self.request(1_000, Self.change(1_000)))
    turn(appended())
    turn(folded())
  }

  /// Makes turns until nothing is under way and nothing is left to do at once.
  func settle() {
    for _ in 0..<1_000 {
      let (group, cut) = (appending, folding)
      (appending, folding) = ([], nil)
      var inputs: [Coordinator.Input] = []
      if !group.isEmpty {
        world.append(group)
        inputs.append(.appended(.success(())))
      }
      if let cut { inputs.append(.folded(.success(world.fold(cut)))) }
      now = now + Span(milliseconds: 300)
      hasReaders = true
      _ = both(inputs)
      if appending.isEmpty, folding == nil, coordinator.isAtRest { return }
    }
  }

  private func line(_ action: Coordinator.Action) -> String? {
    switch action {
    case .append(let entries):
      appending = entries
      return "append \(entries.count)"
    case .fold(let cut):
      folding = cut
      return "fold \(cut.partitions.map(\.id.number).sorted())"
    case .trim: return "trim"
    case .push(let attempt):
      pushes.append(attempt)
      return "push wake \(attempt.wake)"
    case .recall: return "recall"
    case .hangUp: return "hang up"
    case .answer(let request, .success(let answers)):
      return "answer \(request.number): " + answers.map { "\($0)" }.joined(separator: ", ")
    case .answer(let request, .failure(let refusal)):
      return "answer \(request.number): \(refusal.rawValue)"
    case .release(let request): return "release \(request.number)"
    case .admission(let cause):
      // The coordinator reports the admission at every turn. The transcript has a line for each
      // change of the admission.
      guard isRefusing != (cause != nil) else { return nil }
      isRefusing.toggle()
      return cause.map { "refuse: \($0.rawValue)" } ?? "take again"
    case .dirtied, .cut: return nil
    case .feedback(let scopes):
      feedback.append(scopes)
      return nil
    case .trace(let batches):
      trace += batches.flatMap(\.entries)
      return nil
    case .visible: return "visible"
    case .unreadable(let cause): return "unreadable: \(cause.rawValue)"
    case .event(let event): return "event " + Self.name(event)
    case .timer(let span): return "timer \(span.milliseconds)"
    case .stopped(let last):
      lastCut = last
      return "stopped"
    case .failed(let error, let failure): return "failed \(failure): \(error.code)"
    }
  }

  private static func name(_ event: Coordinator.Event) -> String {
    String("\(event)".prefix { $0 != "(" })
  }
}

extension CoordinatorRun {
  /// A request of one fact, or of several.
  static func request(_ number: UInt64, _ facts: Fact...) -> Coordinator.Input {
    .request(RequestID(number), facts, by: .caller(number))
  }

  static func change(_ number: UInt64, _ owner: UserID = Sample.owner) -> Fact {
    .change(
      Change(
        scope: Sample.scope, database: .private, zone: ZoneID(name: "Z", owner: owner),
        event: .record(RecordChange(verb: .updated, name: "r\(number)", type: "A")),
        time: Sample.start, notification: Sample.nid(number), fingerprint: number))
  }

  /// A run in which one push is in flight.
  static func pushing(
    routes: Set<RouteKey> = [CoordinatorRun.route],
    _ change: (inout RelaySettings) -> Void = { _ in }
  ) throws -> CoordinatorRun {
    let run = CoordinatorRun(routes: routes, change)
    var info = NotificationInfo()
    info.isContentAvailable = true
    let subscription = Subscription(
      id: SubscriptionID("db"), database: .private, rule: .database(recordType: nil), info: info)
    run.turn(
      request(
        1,
        .register(
          Registration(
            scope: Sample.scope, user: Sample.owner, client: Sample.client(1),
            address: Sample.address(1)))),
      request(
        2,
        .modify(
          SubscriptionsRequest(
            scope: Sample.scope, user: Sample.owner, database: .private,
            operations: [.save(subscription)]))))
    run.settle()
    run.turn(request(3, Self.change(3)))
    run.settle()
    try #require(run.pushes.count == routes.count)
    return run
  }

  static let full = StoreError(.full, "no room")
  static let tooLarge = StoreError(.tooLarge, "too large")
}
