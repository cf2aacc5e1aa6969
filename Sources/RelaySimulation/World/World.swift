import RelayCore

/// One seed's history: clock, store, daemon, producers, clients, providers, and the checkers. The
/// world runs on one thread in virtual time, and all chance comes from the seed.
final class World {
  static let scope = Scope(container: "iCloud.com.example.notes", environment: .development)
  static let start = Instant(milliseconds: 1_700_000_000_000)
  /// The topic of a token. There are two topics, so that there are two routes.
  static func topic(of token: UInt8) -> String { "com.example.\(token % 2)" }

  static let keys = ToyKeys()

  /// The feeds that each client of the user follows, besides those of zones.
  static func feeds(of user: UserID) -> [FeedKey] {
    let kinds: [FeedKey.Kind] = [
      .notifications(user), .database(user, .private), .database(user, .shared),
    ]
    return kinds.map { FeedKey(scope: scope, kind: $0) }
  }

  static func notification(_ id: String) -> Identifier {
    Identifier(uuidFrom: keys.digest(Array(id.utf8)))
  }

  let mutant: Mutant?
  var plan: Plan
  var draw: SeededRandom
  var now = World.start
  var events = EventQueue<WorldEvent>()
  var store: SimulatedStore
  var daemon: SimulatedDaemon?
  var life = 0
  /// `homes`: the home partitions of the users and of the public database.
  let people: (users: [UserID], homes: [PartitionID])
  var clients: [Client] = []
  var operations: [Operation] = []
  var producers: ProducerState
  var providers = ProviderState()
  var courier: CourierState
  var faults = FaultState()
  var durable = DurableFacts()
  var model: Model
  var observer: WorldObserver
  var outcome: Simulation.Outcome
  var tell: ((String) -> Void)?

  init(seed: UInt64, mutant: Mutant?, tell: ((String) -> Void)? = nil) {
    outcome = Simulation.Outcome(seed: seed)
    self.mutant = mutant
    self.tell = tell
    plan = Plan(seed: seed)
    draw = SeededRandom(seed: seed)
    courier = CourierState(draw: SeededRandom(seed: seed ^ 0x6363))
    observer = WorldObserver(witness: Witness(seed: seed, plan))
    if let mutant { plan.ripen(for: mutant) }
    store = SimulatedStore(limits: plan.limits, mutant: mutant)
    model = Model(scope: Self.scope, limits: plan.limits)
    producers = ProducerState(
      changesLeft: plan.changes, numberDraw: SeededRandom(seed: seed ^ 0x6e6e),
      loadDraw: SeededRandom(seed: seed ^ 0x6d6d))
    let users = Self.users(plan.users, homes: plan.homes, &draw)
    let commons = PartitionID.home(of: ZoneID.publicDefault.owner, in: Self.scope)
    people = (users, Set(users.map { .home(of: $0, in: Self.scope) } + [commons]).sorted())
    for user in users {
      for _ in 0..<plan.devicesPerUser { addClient(of: user) }
    }
  }

  /// Chooses users in few partitions, so that some users share a partition.
  private static func users(_ count: Int, homes: Int, _ draw: inout SeededRandom) -> [UserID] {
    var places: [PartitionID] = []
    if draw.below(2) == 0 {
      places.append(.home(of: ZoneID.publicDefault.owner, in: scope))
    }
    while places.count < homes { places.append(PartitionID(draw.below(PartitionID.count))) }
    var found: [UserID] = []
    var number = 0
    while found.count < count {
      let user = UserID("_u\(number)")
      if places.contains(.home(of: user, in: scope)) { found.append(user) }
      number += 1
    }
    return found
  }

  private func addClient(of user: UserID) {
    let id = ClientID(Identifier(high: 0x4000, low: 0x8000_0000_0000_0000 | UInt64(clients.count)))
    let isMute = draw.permille(plan[.muteDevices])
    clients.append(
      Client(
        id: id, user: user, token: takeToken(), isMute: isMute,
        isCourierOnly: courier.draw.permille(plan[.courierOnly])))
  }

  func takeToken() -> UInt8 {
    defer { providers.nextToken &+= 1 }
    return providers.nextToken
  }

  func at(_ span: Span, _ event: WorldEvent) { events.add(event, at: now + span) }
  func soon(_ most: Int64, _ event: WorldEvent) {
    at(Span(milliseconds: Int64(draw.below(Int(most))) + 1), event)
  }

  /// The largest number of durable facts in a history: many times the number of the busiest world.
  /// A history whose relay never comes to rest ends at this number, and `checkTheEnd` reports this.
  private static let historyMax = 1_000_000

  /// Runs the whole history.
  func run() throws {
    try boot()
    scheduleWork()
    at(plan.unkind, .calm)
    while let (instant, event) = events.next() {
      if instant > endsAt, isAtRest || instant > endsAt + .minutes(5) { break }
      // A relay that steps for ever would delay the end for ever.
      if instant > World.start + .days(10) || durable.facts.count > Self.historyMax { break }
      now = max(now, instant)
      outcome.steps += 1
      note(event)
      try handle(event)
      try turn()
      try checkLedger()
      try checkExplanation()
      if daemon != nil, draw.permille(plan[.crash]) { crash("the power went") }
    }
    try checkTheEnd()
    if let daemon { outcome.reached.formUnion(daemon.coordinator.reached) }
  }

  /// When the history ends. After the last step of a change, every alert that may pend gets time
  /// for its turn within the budget. With a slow store and small slices, the last step may come
  /// hours after the change was sent.
  private var endsAt: Instant {
    let turns = 4 + plan.limits.alertsPending / plan.policy.alert.max
    let rest = plan.policy.background.per * Int64(turns) + plan.policy.smearing.longest * 2
    return max(World.start + plan.unkind, durable.lastWork) + rest + .minutes(30)
  }

  /// True if no work is on its way to the store and no caller waits for an answer. Wakes that the
  /// relay repeats for silent devices do not count, because these wakes never end.
  private var isAtRest: Bool {
    guard let daemon else { return false }
    return daemon.isAtRest && operations.allSatisfy(\.isAnswered)
  }

  private func scheduleWork() {
    let span = plan.unkind.milliseconds
    addCrowd()
    for index in clients.indices { soon(span / 4 + 1, .act(client: index)) }
    for _ in 0..<plan.clientActs { soon(span, .act(client: draw.below(clients.count))) }
    for _ in 0..<plan.changes { soon(span, .produce) }
    if plan[.restores] > 0 {
      soon(span, .copy)
      soon(span, .restore)
    }
    for _ in 0..<plan[.courierVisits] {
      soonAtCourier(span, .connect(client: courier.draw.below(clients.count)))
    }
    for _ in 0..<4 where draw.permille(plan[.stops]) { soon(span, .stop) }
    for _ in 0..<40 where draw.permille(plan[.attacks]) { soon(span, .attack) }
    var draw = SeededRandom(seed: outcome.seed ^ 0x7171)
    for _ in 0..<plan[.reloads] {
      let route = draw.pick(World.routes.sorted())
      at(Span(milliseconds: Int64(draw.below(Int(span)))), .reload(route))
    }
  }

  private func handle(_ event: WorldEvent) throws {
    switch event {
    case .produce: produce()
    case .act(let client): act(client)
    case .submit(let operation): submit(operation)
    case .answer(let operation, let reply): try answered(operation, reply)
    case .retry(let operation): retry(operation)
    case .committed(let life) where life == self.life: try committed()
    case .trimmed(let life, let rows) where life == self.life:
      daemon?.add(.trimmed(rows: rows))
    case .folded(let life) where life == self.life: try folded()
    case .timer(let life) where life == self.life: daemon?.armed = .never
    case .verdict(let life, let attempt, let verdict) where life == self.life:
      try ended(attempt, verdict)
    case .told(let life, let client, let connection, let taken) where life == self.life:
      try told(client, connection, taken)
    case .committed, .trimmed, .folded, .timer, .verdict, .told: break
    case .connect(let client): connect(client)
    case .leave(let client, let connection): leave(client, connection)
    case .taken(let push): try taken(push)
    case .woken(let client, let wake, let user): woken(client, wake, user)
    case .fetch(let client, let feed): try fetch(client, feed)
    case .recover: try boot()
    case .stop:
      if daemon != nil { observer.witness.isStopping = true }
      daemon?.add(.stop)
    case .copy: if plan[.restores] > 0 { faults.backup = (store, now) }
    case .restore: restore()
    case .attack: try attack()
    case .clockSet: setClock()
    case .reload(let route): reload(route)
    case .calm: try calm()
    }
  }

  /// Switches the faults off: from now on every call works, and all state must become as promised.
  private func calm() throws {
    faults.isOver = true
    setClock()
    plan.calm()
    if mutant == .dropsPushes { plan[.providerMute] = 0 }
    if daemon == nil { try boot() }
    let started = providers.missing
    providers.missing = []
    daemon?.add(
      .reconfigured(Coordinator.Reconfiguration(settings: plan.settings, started: started)))
    for index in clients.indices where clients[index].registered != nil {
      register(index, as: clients[index].user)
    }
    // A phone that has only the courier connects now; otherwise the relay could not wake it.
    for index in clients.indices where clients[index].isCourierOnly {
      clients[index].line = nil
      soonAtCourier(10_000, .connect(client: index))
    }
  }

  private func note(_ event: WorldEvent) {
    for value in [UInt64(bitPattern: now.milliseconds), UInt64(durable.facts.count), draw.peek] {
      outcome.digest = (outcome.digest ^ value) &* 0x0000_0100_0000_01b3
    }
    tell?("\(outcome.steps) +\((now - World.start).milliseconds) ms \(event.line)")
  }
}
