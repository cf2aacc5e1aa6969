import RelayCore

/// What the world knows of changes and devices, for the check of explanations. This knowledge comes
/// from facts, pushes, answers and fetches, and not from the entries that the relay makes.
struct Witness {
  /// What the world saw of one device, in order.
  enum Sight {
    case fired(SeenChange.Fired)
    case pushed(Push)
    case ended(PushAttempt.ID, Verdict)
    case acknowledged(Acknowledged)
    case marked([Identifier])
    case withdrawn(Withdrawal)
    case retired
    case unregistered
    /// A life of the daemon begins.
    case began
  }

  struct Push {
    var attempt: PushAttempt
    var text: PushText

    var isOverCourier: Bool { attempt.route.transport == .courier }
    /// The alert that the push shows.
    var alert: String? { attempt.intent == .alert ? text.alert : nil }
  }

  /// The check's own random numbers, so that the check changes nothing in the world.
  var draw: SeededRandom
  let plan: Plan
  /// The changes that have come to their homes, in order.
  private(set) var changes: [Identifier] = []
  /// How each change came to its home and to other partitions.
  private(set) var arrivals: [Identifier: [SeenChange]] = [:]
  private(set) var sights: [DeviceKey: [Sight]] = [:]
  private(set) var devices: [DeviceKey: SeenChange.Retiring] = [:]
  /// Users of whose devices the world knows too little to tell a reason.
  private(set) var unclear: Set<UserID> = []
  /// What the world saw and the relay does not know yet.
  private var unknown: [(DeviceKey, Sight)] = []
  private(set) var hasCrashed = false
  private(set) var lastMatch: [DeviceKey: Instant] = [:]
  /// When the last poll of each device ended with an empty answer.
  private(set) var polled: [DeviceKey: Instant] = [:]
  private(set) var stoppedRoutes: Set<RouteKey> = []
  /// The topic of each device's last registration. The app's present token may have another topic.
  private(set) var topics: [DeviceKey: String] = [:]
  var isStopping = false
  /// Whether explanations are checked at all. A restore ends the checks, because a restore undoes
  /// what the world saw.
  var isOn: Bool

  init(seed: UInt64, _ plan: Plan) {
    draw = SeededRandom(seed: seed ^ 0x7777)
    self.plan = plan
    isOn = plan[.explained] > 0
  }

  private mutating func saw(_ sight: Sight, of key: DeviceKey) {
    if isOn { sights[key, default: []].append(sight) }
  }

  /// Something happened of which the relay will know in its next turn.
  mutating func willBeKnown(_ sight: Sight, of key: DeviceKey) {
    if isOn { unknown.append((key, sight)) }
  }

  /// A turn of the relay begins.
  mutating func turnBegins() {
    guard !unknown.isEmpty else { return }
    for (key, sight) in unknown { saw(sight, of: key) }
    unknown = []
  }

  mutating func left(_ key: DeviceKey, at now: Instant) { polled[key] = now }

  mutating func circuit(of route: RouteKey, isStopped: Bool) {
    if isStopped { stoppedRoutes.insert(route) } else { stoppedRoutes.remove(route) }
  }

  mutating func crashed() {
    guard isOn else { return }
    hasCrashed = true
    for key in sights.keys { sights[key]?.append(.began) }
    unknown = []
    (stoppedRoutes, isStopping, polled) = ([], false, [:])
  }

  mutating func pushed(_ attempt: PushAttempt, _ text: PushText) {
    saw(.pushed(Push(attempt: attempt, text: text)), of: attempt.device)
  }

  mutating func ended(_ attempt: PushAttempt, _ verdict: Verdict) {
    willBeKnown(.ended(attempt.id, verdict), of: attempt.device)
    if case .gone = verdict, devices[attempt.device] != nil { devices[attempt.device] = .maybe }
  }
}

/// The facts that the world saw.
extension Witness {
  /// - Parameter effects: `nil` means that no life of the daemon has stepped the fact yet.
  mutating func stepped(
    _ row: JournalEntry, _ effects: [Effect]?, isFanningOut: Bool, _ model: Model
  ) {
    guard isOn else { return }
    if var arrival = model.arrival {
      arrival.isUnclear = isFanningOut || effects.map { $0.beginsSlices } ?? true
      arrived(arrival, row)
    }
    switch row.fact {
    case .register(let request):
      guard let effects else { return unclear.formUnion([request.user]) }
      guard case .answer(_, _, .registered, _)? = effects.last else { return }
      let key = DeviceKey(scope: request.scope, user: request.user, client: request.client)
      registered(key)
      topics[key] = request.address.topic
    case .unregister(let request):
      guard case .client(let client) = request.device else { return }
      let key = DeviceKey(scope: request.scope, user: request.user, client: client)
      if devices.removeValue(forKey: key) != nil { saw(.unregistered, of: key) }
    case .forwarded(let forwarded):
      guard case .displaced(let displacement) = forwarded.message else { return }
      // Only the relay knows whether the displacement concerns the present registration.
      if devices[displacement.device] != nil { devices[displacement.device] = .maybe }
      saw(.retired, of: displacement.device)
    case .markRead(let request):
      for key in devices.keys where key.user == request.user {
        saw(.marked(request.notifications), of: key)
      }
    case .modify(let request):
      for case .delete(let id) in request.operations {
        let withdrawal = Withdrawal.subscription(id, request.database)
        guard model.withdrawn[request.user]?[withdrawal] == row.ordinal else { continue }
        withdraw(withdrawal, of: request.user)
      }
    default: break
    }
  }

  private mutating func arrived(_ arrival: SeenChange, _ row: JournalEntry) {
    var arrival = arrival
    let change = arrival.change
    arrival.devices = devices.filter { key, _ in
      PartitionID.home(of: key.user, in: key.scope) == arrival.partition
    }
    if arrivals[change.notification] == nil { changes.append(change.notification) }
    withdrawEnded(by: arrival)
    for (user, all) in arrival.fired {
      for key in devices.keys where key.user == user {
        for var fired in all {
          fired.isLate = arrival.isUnclear
          saw(.fired(fired), of: key)
        }
        lastMatch[key] = max(lastMatch[key] ?? .zero, row.at)
      }
    }
    arrivals[change.notification, default: []].append(arrival)
  }

  private mutating func withdrawEnded(by arrival: SeenChange) {
    let change = arrival.change
    if arrival.isSuperseded { return }
    // A participant's notifications are withdrawn when the end of the share has come to the
    // participant's own partition.
    let members = arrival.members.filter {
      PartitionID.home(of: $0, in: change.scope) == arrival.partition
    }
    switch change.event {
    case .revoked(let user) where members.contains(user):
      withdraw(.zone(change.zone, .shared), of: user)
    case .zone(let end) where end != .created && !change.zone.isDefault:
      if arrival.partition == change.home {
        withdraw(.zone(change.zone, .private), of: change.zone.owner)
      }
      for user in members { withdraw(.zone(change.zone, .shared), of: user) }
    default: break
    }
  }

  private mutating func withdraw(_ withdrawal: Withdrawal, of user: UserID) {
    for key in sights.keys where key.user == user { saw(.withdrawn(withdrawal), of: key) }
  }

  private mutating func registered(_ key: DeviceKey) {
    if devices[key] == nil {
      let others = devices.filter { $0.key.user == key.user }
      // The relay may have removed a retired device to make room.
      if others.count >= plan.limits.devicesPerUser { unclear.insert(key.user) }
    }
    devices[key] = .no
  }
}

extension [Effect] {
  /// Whether a wide change goes on in slices.
  fileprivate var beginsSlices: Bool {
    contains { if case .journal(_, .slice) = $0 { true } else { false } }
  }
}
