import RelayCore
import Testing

/// The lane keeps its promises after each input, in short sequences of inputs and in long random
/// ones.
@Suite struct LaneExhaustiveTests {
  private struct Input {
    var name: String
    /// The ledger columns that this input may raise, besides `pending`. The input raises no others.
    var columns: [Column]
    var act: @Sendable (inout LaneRig) -> Void

    init(
      _ name: String, _ columns: [Column] = [], _ act: @escaping @Sendable (inout LaneRig) -> Void
    ) {
      (self.name, self.columns, self.act) = (name, columns, act)
    }

    /// - Returns: the ledger before the input.
    func act(on rig: inout LaneRig) -> Ledger {
      let before = rig.ledger
      act(&rig)
      return before
    }
  }

  private typealias Column = any WritableKeyPath<Ledger, Int64> & Sendable

  private static let inputs = matches + attempts + signs + roads

  private static let matching: [Column] = [\.matched, \.merged, \.retired]

  private static let matches = [
    Input("zone 0", matching) { $0.zone(0) },
    Input("zone 1", matching) { $0.zone(1) },
    Input("zone 2", matching) { $0.zone(2) },
    Input("query", matching) { $0.query("r") },
    Input("alert a", matching) { $0.alert("a") },
    Input("alert b of zone 1", matching) { $0.alert("b", zone: 1) },
    Input("alert that runs the app", matching) { $0.alert("c", runsApp: true) },
    Input("hot 0", matching) { $0.hot(0) },
    Input("hot 1", matching) { $0.hot(1, in: 2_000) },
    Input("hot alert", matching) { $0.hotAlert("a") },
  ]

  private static let attempts = [
    Input("a moment") { $0.advance(0.5) },
    Input("20 minutes") { $0.advance(1_200) },
    Input("attempt") { rig in
      guard case .attempt(let isAlert) = rig.nextStep else { return }
      rig.attempts.append(LaneRig.AttemptStart(at: rig.now, isAlert: isAlert))
      let given = rig.lane.nextWake
      let wake = rig.begin(isAlert: isAlert)
      if let wake, wake.wake == given, wake.wake >= rig.lane.reservedWake {
        Issue.record("wake \(wake.wake) was not reserved")
      }
      if wake == nil { Issue.record("an attempt was needed and had nothing to tell") }
    },
    Input("nothing to show", [\.merged]) { rig in
      guard case .attempt(isAlert: true) = rig.nextStep else { return }
      rig.hush()
    },
    Input("delivered", [\.woken]) { $0.delivered() },
    Input("postponed", [\.merged]) { $0.postponed(1) },
    Input("rejected", [\.expired, \.merged]) { $0.rejected() },
    Input("fold", [\.merged]) { $0.fold() },
    Input("cut") { $0.cut() },
    Input("the cut is durable", [\.merged]) { $0.keep() },
  ]

  private static let signs = [
    Input("fetched", [\.fetched]) { $0.fetched() },
    Input("fetched zone 1", [\.fetched]) { $0.fetched(zone: 1) },
    Input("withdraw zone 0", [\.withdrawn]) { $0.withdraw(zone: 0) },
    Input("withdraw query", [\.withdrawn]) {
      $0.lane.withdraw(.subscription(SubscriptionID("query"), .private), ledger: &$0.ledger)
    },
    Input("withdraw alerts", [\.withdrawn]) {
      $0.lane.withdraw(.subscription(SubscriptionID("alerts"), .private), ledger: &$0.ledger)
    },
    Input("acknowledge the last wake", [\.fetched]) {
      $0.lane.acknowledged(wake: $0.lane.nextWake - 1, ledger: &$0.ledger)
    },
    Input("listed") { $0.lane.listed([LaneRig.zones[0], LaneRig.zones[1]], .private) },
    Input("retire", [\.retired]) {
      $0.lane.retire(Retirement(at: $0.now, reason: "gone"), ledger: &$0.ledger)
    },
    Input("registered again") { $0.lane.registeredAgain() },
    Input("moved") { $0.lane.moved() },
  ]

  private static let roads = [
    Input("connect") { $0.connect() },
    Input("connect after the last wake", [\.fetched]) {
      $0.connect(2, after: $0.lane.nextWake - 1)
    },
    Input("connect after none") { $0.connect(3, after: 0) },
    Input("leave") { $0.leave() },
    Input("leave for the next poll") { $0.leave(isExpectedBack: true) },
    Input("tell") { rig in
      guard case .tell(let isAlert) = rig.nextStep else { return }
      if rig.begin(isAlert: isAlert, overCourier: true) == nil {
        Issue.record("the courier was needed and had nothing to tell")
      }
    },
    Input("courier fails", [\.merged]) { rig in
      guard case .inFlight(let attempt) = rig.lane.state, attempt.isOverCourier else { return }
      rig.courierFailed()
    },
    Input("without a provider") { $0.lane.registered(withProvider: false) },
    Input("with a provider") { $0.lane.registered(withProvider: true) },
  ]

  /// The inputs that advance a wake. Random sequences draw half of their inputs from these, because
  /// other sequences seldom deliver a wake.
  private static let steps = [
    "a moment", "attempt", "delivered", "postponed", "fold", "cut", "the cut is durable", "tell",
  ].map { name in
    guard let index = inputs.firstIndex(where: { $0.name == name }) else {
      preconditionFailure("no input is called \(name)")
    }
    return index
  }

  private static func rig() -> LaneRig {
    var rig = LaneRig()
    rig.limits.zonesPending = 1
    rig.limits.alertsPending = 1
    rig.policy.background = Budget.Rule(max: 2, per: .hours(1))
    rig.policy.alert = Budget.Rule(max: 2, per: .hours(1))
    return rig
  }

  /// A lane with a fold under way, and with an attempt in flight that began after that fold's cut.
  private static func flying() -> LaneRig {
    var rig = rig()
    rig.zone(0)
    rig.advance(0.5)
    rig.fold()
    rig.cut()
    rig.wake()
    return rig
  }

  @Test(arguments: [false, true])
  func `short sequences of inputs keep the lane's promises`(isFlying: Bool) {
    let start = isFlying ? Self.flying() : Self.rig()
    var reached: Set<LaneRig> = []
    var rigs = [(start, [Int]())]
    let longest = isFlying ? 3 : 4
    for length in 1...longest {
      var next: [(LaneRig, [Int])] = []
      for (rig, word) in rigs {
        for index in Self.inputs.indices {
          var rig = rig
          let (before, word) = (Self.inputs[index].act(on: &rig), word + [index])
          guard keepsColumns(rig, before, word) else { return }
          // Sequences that reach the same state go on in the same way.
          guard reached.insert(rig).inserted else { continue }
          guard keepsPromises(&rig, word) else { return }
          if length < longest { next.append((rig, word)) }
        }
      }
      rigs = next
    }
  }

  @Test func `long random sequences of inputs keep the lane's promises`() {
    var draw = SeededRandom(seed: 3)
    for number in 0..<2_000 {
      var rig = number.isMultiple(of: 2) ? Self.rig() : Self.flying()
      var word: [Int] = []
      for _ in 0..<60 {
        word.append(draw.chance(50) ? draw.pick(Self.steps) : draw.below(Self.inputs.count))
        let before = Self.inputs[word.last!].act(on: &rig)
        guard keepsColumns(rig, before, word), keepsPromises(&rig, word) else { return }
      }
    }
  }

  private func record(_ broken: String, by rig: LaneRig, _ word: [Int]) {
    let names = word.map { Self.inputs[$0].name }
    Issue.record("\(broken) after \(names): \(rig.lane.state) \(rig.ledger)")
  }

  /// A ledger can be balanced and still count in a wrong column. So an input may raise only the
  /// columns that `Input.columns` lists for it.
  private func keepsColumns(_ rig: LaneRig, _ before: Ledger, _ word: [Int]) -> Bool {
    guard rig.ledger != before, let input = word.last.map({ Self.inputs[$0] }) else { return true }
    var others = rig.ledger
    for column in input.columns where others[keyPath: column] >= before[keyPath: column] {
      others[keyPath: column] = before[keyPath: column]
    }
    others.pending = before.pending
    if others != before { record("P12: a wrong column changed, or one went back", by: rig, word) }
    return others == before
  }

  private func keepsPromises(_ rig: inout LaneRig, _ word: [Int]) -> Bool {
    guard let broken = broken(&rig) else { return true }
    record(broken, by: rig, word)
    return false
  }

  /// The first promise that does not hold; `nil` means that all hold.
  private func broken(_ rig: inout LaneRig) -> String? {
    let lane = rig.lane
    if !rig.ledger.isBalanced { return "P12: the ledger is off" }
    var flying = 0
    if case .inFlight(let attempt) = lane.state, attempt.alert != nil { flying = 1 }
    if Int(rig.ledger.pending) != lane.pending.deliveries + flying { return "P12: pending is off" }
    if lane.pending.zones.count > 1 || lane.pending.overflow.count > 1
      || lane.pending.query.count > 1 || lane.pending.alerts.count > 1
    {
      return "P6: pending is not bounded"
    }
    if let broken = brokenAlerts(rig) { return broken }
    if let broken = brokenBudget(rig) ?? brokenQuiet(lane) { return broken }
    let next = rig.nextStep
    switch lane.state {
    case .idle: if !lane.pending.isEmpty { return "P5: idle, and something pends" }
    case .watching:
      if !lane.hasAcknowledged && lane.fallback == nil || lane.pending.isEmpty
        || lane.pending.isFresh
      {
        return "P5: watching what is not told"
      }
      if next == .nothing && lane.reach.hasProvider { return "P5: watching for ever" }
    case .retired: if !lane.pending.isEmpty { return "P9: retired, and something pends" }
    case .inFlight: if next != .nothing { return "P6: a second attempt" }
    case .gathering, .due, .resting:
      if next == .nothing && (lane.reach.hasProvider || lane.reach.isHere) {
        return "P5: waits for nothing"
      }
    }
    if let broken = brokenCourier(lane, next) { return broken }
    var after = rig.recovered()
    let isOwed = lane.pending.isFresh || !lane.pending.alerts.isEmpty || flying > 0
    if isOwed || lane.fallback != nil {
      if !lane.reach.hasProvider { after.connect(9) }
      if after.nextStep == .nothing { return "P5: a crash loses what pends" }
    }
    if after.lane.pending.quiet.all.count != lane.pending.quiet.all.count {
      return "P5: a crash forgets what an alert named"
    }
    return brokenKeeping(rig)
  }

  /// Checks what a crash costs: afterwards the lane is as the last durable fold recorded it.
  private func brokenKeeping(_ rig: LaneRig) -> String? {
    let found = Lane(rig.kept.lane, folded: rig.kept.stepped)
    if found.nextWake < rig.lane.nextWake { return "P6: a crash repeats wake numbers" }
    if rig.attempts.count > rig.kept.attempts + 1 { return "P7: a crash costs two attempts" }
    return nil
  }

  /// Of one subject the lane keeps at most three alerts: one that is folded, one that is in the cut
  /// under way, and the newest.
  private func brokenAlerts(_ rig: LaneRig) -> String? {
    for alert in rig.lane.pending.alerts {
      let all = (alert.earlier + [alert]).map(\.position.ordinal)
      if all.count > 3 || all != all.sorted() { return "P11: alerts of one subject pile up" }
      if all.count(where: { $0 <= rig.folded }) > 1 { return "P11: a folded alert is kept twice" }
      if alert.earlier.contains(where: { !$0.earlier.isEmpty }) { return "P11: a tail of alerts" }
    }
    return nil
  }

  /// Checks the quiet subjects (`quiet`): their number is bounded, they add no deliveries, and only
  /// an attempt in flight covers them.
  private func brokenQuiet(_ lane: Lane) -> String? {
    let quiet = lane.pending.quiet
    if quiet.zones.count > 1 || quiet.overflow.count > 1 || !quiet.query.isEmpty {
      return "P6: what alerts named is not bounded"
    }
    if quiet.deliveries > 0 { return "P12: an alert is counted twice" }
    if quiet.all.contains(where: \.isCovered) {
      guard case .inFlight = lane.state else { return "P5: named by no attempt" }
    }
    if case .retired = lane.state, !quiet.isEmpty { return "P9: retired, and something is named" }
    return nil
  }

  private func brokenCourier(_ lane: Lane, _ next: Lane.NextStep) -> String? {
    if case .attempt = next, !lane.reach.hasProvider { return "P5: a push to nowhere" }
    if case .tell = next, !lane.reach.isHere { return "P5: the device is not connected" }
    if let fallback = lane.fallback {
      if !lane.reach.hasProvider { return "P5: a fallback without a push to follow" }
      if fallback.first > fallback.last { return "P5: a fallback of nothing" }
      if case .retired = lane.state { return "P5: a fallback of a retired device" }
    }
    return nil
  }

  private func brokenBudget(_ rig: LaneRig) -> String? {
    for isAlert in [true, false] {
      let times = rig.attempts.filter { $0.isAlert == isAlert }.map(\.at)
      for (index, time) in times.enumerated().dropFirst(2)
      where time - times[index - 2] < .hours(1) {
        return "P7: over the budget"
      }
    }
    return nil
  }
}
