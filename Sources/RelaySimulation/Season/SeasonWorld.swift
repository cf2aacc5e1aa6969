import RelayCore
import RelayMemory

/// Thirty virtual days of one small world: the real core with a journal and a store, producers with
/// their traffic, Apple, and phones with their owners. Time jumps from one event to the next.
///
/// The random numbers for the phones' habits and for traffic do not depend on the relay, so that
/// two rules meet exactly the same season.
final class SeasonWorld {
  static let start = Instant(milliseconds: 1_700_006_400_000)

  let seed: UInt64
  let plan: SeasonPlan
  let mutant: Mutant?
  var now = SeasonWorld.start
  var step = 0
  var events = EventQueue<SeasonEvent>()
  var store: SimulatedStore
  var daemon: SimulatedDaemon?
  var life = 0
  /// The users. Each user owns a zone, and the stream at the same index in `traffic` changes this
  /// zone. In a hot-zone season only the first user owns a zone.
  let users: [UserID]
  var homes: [PartitionID] = []
  var phones: [Phone] = []
  var byClient: [ClientID: Int] = [:]
  var traffic: [Traffic] = []
  /// One index in `traffic` for each change that came while the daemon was down. The daemon gets
  /// these changes at its next start.
  var late: [Int] = []
  var nextID: UInt64 = 1
  var apple: AppleState
  /// Whether the daemon has got inputs since its last turn.
  var isStirred = false
  var observer: SeasonObserver
  var figures = SeasonFigures()

  init(seed: UInt64, plan: SeasonPlan, mutant: Mutant?) {
    self.seed = seed
    self.plan = plan
    self.mutant = mutant
    apple = AppleState(draw: SeededRandom(seed: seed ^ 0x9f0f))
    store = SimulatedStore(limits: Limits(), mutant: mutant)
    var draw = SeededRandom(seed: seed ^ 0x7e57)
    users = (0..<plan.users).map { UserID("_p\($0)x\(draw.below(1_000))") }
    observer = SeasonObserver(phones: plan.users * plan.phonesPerUser, policy: plan.policy)
    for (index, user) in users.enumerated() {
      for _ in 0..<plan.phonesPerUser { addPhone(of: user) }
      guard plan.shape != .hotZone || index == 0 else { continue }
      traffic.append(
        Traffic(shape: plan.shape, gap: plan.gap, SeededRandom(seed: seed ^ UInt64(0xa000 + index)))
      )
    }
    homes = Set(users.map { .home(of: $0, in: World.scope) }).sorted()
  }

  private var end: Instant { Self.start + .days(plan.days) }

  private func addPhone(of user: UserID) {
    let index = phones.count
    let client = ClientID(
      Identifier(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(index)))
    let draw = SeededRandom(seed: seed ^ UInt64(0xb000 + index))
    phones.append(
      Phone(user: user, client: client, token: takeToken(), at: Self.start, draw))
    byClient[client] = index
  }

  func takeToken() -> UInt16 {
    defer { apple.nextToken += 1 }
    return apple.nextToken
  }

  /// The zone in which all changes of this stream of changes happen.
  func zone(_ stream: Int) -> ZoneID { ZoneID(name: "Z", owner: users[stream]) }

  /// Whether the changes of this stream of changes concern a phone.
  func hears(_ phone: Int, _ stream: Int) -> Bool {
    plan.shape == .hotZone || phones[phone].user == users[stream]
  }

  func at(_ span: Span, _ event: SeasonEvent) {
    events.add(event, at: now + span)
  }

  func run() throws {
    try boot()
    begin()
    try turn()
    while let (instant, event) = events.next(), instant <= end {
      now = max(now, instant)
      step += 1
      try handle(event)
      if isStirred { try turn() }
    }
    now = end
    try checkTheEnd()
  }

  /// Registers all phones and makes the users' subscriptions; shares a hot zone with all users.
  private func begin() {
    for stream in traffic.indices where plan.shape == .hotZone {
      take(change(.zone(.created), stream))
      for user in users.dropFirst() { take(change(.granted(user), stream)) }
    }
    for user in users {
      let database: Database = plan.shape == .hotZone && user != users[0] ? .shared : .private
      let subscription = Subscription(silent: "all", database, .database(recordType: nil))
      take(.subscriptions(.save(subscription), of: user, in: database))
    }
    for index in phones.indices {
      register(index)
      beginLife(of: index)
    }
    for stream in traffic.indices { scheduleChange(stream) }
    for number in 0..<plan.crashes {
      var draw = SeededRandom(seed: seed ^ UInt64(0xc000 + number))
      at(.minutes(Int64(draw.below(Int(plan.days) * 24 * 60))), .crash)
    }
    if let outages = plan.outages { at(apple.draw.gap(outages), .outage(begins: true)) }
    for day in 1..<(plan.days * 4) { at(.hours(day * 6), .look) }
  }

  func take(_ fact: Fact) {
    isStirred = true
    daemon?.submit(fact)
  }

  func register(_ index: Int) {
    let phone = phones[index]
    take(
      .register(
        Registration(
          scope: World.scope, user: phone.user, client: phone.client, address: phone.address)))
  }

  private func handle(_ event: SeasonEvent) throws {
    switch event {
    case .change(let stream): produce(stream)
    case .phone(let index, let turn): try live(index, turn)
    case .timer(let life) where life == self.life:
      // If the armed instant is later, an earlier timer has done the work of this timer already.
      guard let armed = daemon?.armed, armed <= now else { return }
      daemon?.armed = .never
      isStirred = true
    case .verdict(let life, let attempt, let verdict) where life == self.life:
      try ended(attempt, verdict)
    case .taken(let push): taken(push)
    case .timer, .verdict: break
    case .outage(let begins): outage(begins)
    case .crash: crash()
    case .recover: try boot()
    case .look: try look()
    }
  }

  // MARK: The daemon

  private var moment: Coordinator.Moment {
    Coordinator.Moment(
      wall: now, boot: Instant(milliseconds: (now - Self.start).milliseconds))
  }

  private var settings: RelaySettings {
    var settings = RelaySettings()
    settings.policy = plan.policy
    // A season is shorter than the retention.
    settings.trimEvery = .days(3_650)
    return settings
  }

  private func boot() throws {
    guard daemon == nil else { return }
    isStirred = true
    life += 1
    store.claim(era: UInt64(life) << 32 | 1)
    let route = RouteKey(scope: World.scope, transport: .apns, topic: World.topic(of: 0))
    daemon = SimulatedDaemon(
      store: store, settings: settings, routes: [route], at: moment)
    // All installed apps register again, before the changes that came while the daemon was down.
    for index in phones.indices where phones[index].isInstalled && step > 0 { register(index) }
    for stream in late { take(change(stream)) }
    late = []
  }

  private func crash() {
    guard daemon != nil else { return }
    daemon = nil
    figures.crashes += 1
    observer.crashed(at: now)
    at(.seconds(20), .recover)
  }

  /// Runs turns until no input is left. In a season commits and folds are durable at once and never
  /// fail; the failures of a store are tested in `World`.
  private func turn() throws {
    isStirred = false
    while let daemon {
      for action in daemon.handle(at: moment) { try perform(action, on: daemon) }
      let (actions, steps) = daemon.proceed(at: moment)
      for step in steps { stepped(step.entry) }
      for action in actions { try perform(action, on: daemon) }
      if !daemon.hasInputs { break }
    }
    try checkLedger()
  }

  /// Lets up to two seconds pass until all changes are folded, as for a reader that waits.
  func settle() throws {
    guard let daemon else { return }
    for _ in 0..<8 where !daemon.isAtRest {
      now = now + Span(milliseconds: 250)
      try turn()
    }
  }

  private func perform(_ action: Coordinator.Action, on daemon: SimulatedDaemon) throws {
    switch action {
    case .append(let entries):
      store.world.append(entries)
      daemon.add(.appended(.success(())))
    case .fold(let cut):
      let rows = store.world.fold(cut)
      try checkBounds(cut)
      daemon.add(.folded(.success(rows)))
    case .trim: daemon.add(.trimmed(rows: 0))
    case .push(let attempt):
      try push(attempt)
      if mutant == .pushesTwice { try push(attempt) }
    case .recall(_, let place): daemon.add(.recalled(place))
    case .release(let request): daemon.release(request)
    case .timer(let span): if daemon.arm(at: now + span) { at(span, .timer(life: life)) }
    case .answer, .admission, .dirtied, .cut, .visible, .unreadable, .hangUp, .feedback, .event,
      .trace, .stopped, .failed:
      break
    }
  }

  func ended(_ attempt: PushAttempt, _ verdict: Verdict) throws {
    guard let daemon else { return }
    isStirred = true
    observer.ended(attempt, verdict, byClient[attempt.device.client] ?? 0, at: now)
    daemon.add(.verdict(attempt, verdict))
  }
}

/// All kinds of events of a season. Large values are stored indirectly, because the queue moves
/// events often.
enum SeasonEvent {
  case change(stream: Int)
  case phone(Int, PhoneTurn)
  case timer(life: Int)
  indirect case verdict(life: Int, PushAttempt, Verdict)
  indirect case taken(PushTaken)
  case outage(begins: Bool)
  case crash
  case recover
  /// The checkers examine all phones.
  case look
}

extension SeededRandom {
  /// A random gap with this mean; many gaps are much shorter, and some are longer.
  mutating func gap(_ mean: Span) -> Span {
    let (first, second) = (Int64(below(2_000) + 1), Int64(below(2_000) + 1))
    return Span(milliseconds: mean.milliseconds * first / 1_000 * second / 1_000 + 1)
  }
}

extension Span {
  static func - (left: Span, right: Span) -> Span {
    Span(milliseconds: left.milliseconds - right.milliseconds)
  }
}
