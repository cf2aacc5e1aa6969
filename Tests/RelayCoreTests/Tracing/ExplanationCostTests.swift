import Testing

@testable import RelayCore

/// What explanations cost: looks at entries and deliveries, not time.
@Suite struct ExplanationCostTests {
  /// What pends on the lane: no alert; alerts that each replace an older one; or alerts that each
  /// make an older one give way, because too many wait.
  enum Kind: CaseIterable, Sendable { case query, replacedAlerts, crowdedAlerts }

  private static let changes: UInt64 = 10

  private static func alert(_ change: UInt64) -> TracedAlert {
    TracedAlert(notification: Sample.nid(change), subscription: SubscriptionID("alerts"))
  }

  private static func pends(_ kind: Kind, _ change: UInt64, _ index: Int) -> TracedMatch.Outcome {
    let older = alert(change > 1 && index == 0 ? change - 1 : change)
    switch kind {
    case .query: return .pends(.query, gathers: nil)
    case .replacedAlerts:
      return .pends(.alert(alert(change)), gathers: nil, instead: .init(replaced: older))
    case .crowdedAlerts:
      return .pends(.alert(alert(change)), gathers: nil, instead: .init(crowdedOut: older))
    }
  }

  /// Ten changes, each of which fires this many subscriptions of one user; then some wakes.
  private static func entries(_ kind: Kind, subscriptions: Int, wakes: UInt32) -> [TraceEntry] {
    var events: [TraceEvent] = []
    for number in 1...changes {
      events.append(
        .change(
          TracedChange(
            notification: Sample.nid(number), scope: Sample.scope, database: .private,
            zone: Sample.zone, event: .record(RecordChange(verb: .created, name: "A", type: "T")),
            author: nil,
            place: FactPlace(
              partition: .home(of: Sample.owner, in: Sample.scope), ordinal: Ordinal(number)),
            isSuperseded: false)))
      for index in 0..<subscriptions {
        events.append(
          .matched(
            TracedMatch(
              notification: Sample.nid(number),
              user: Users.Key(scope: Sample.scope, user: Sample.owner),
              subscription: SubscriptionID("s\(index)"), database: .private, zone: Sample.zone,
              position: Position(Ordinal(number), index: index),
              zonePosition: Position(Ordinal(number)),
              devices: [
                TracedMatch.Device(
                  client: TraceRig.device.client, outcome: pends(kind, number, index))
              ])))
      }
    }
    return (events + Self.wakes(kind, wakes)).map { TraceEntry(at: Sample.start, $0) }
  }

  private static func wakes(_ kind: Kind, _ count: UInt32) -> [TraceEvent] {
    (1...count).flatMap { (number: UInt32) -> [TraceEvent] in
      let wake = TracedWake(
        number: number, transport: .apns, topic: Sample.topic, runsApp: true,
        shows: Sample.nid(changes), alertOf: kind == .query ? nil : alert(1).subscription,
        names: [.query], tries: 1, cause: .news)
      return [
        .device(TraceRig.device, .wake(wake)),
        .device(
          TraceRig.device,
          .ended(TracedVerdict(wake: number, verdict: .delivered, rests: nil, dropsAlert: false))),
        .device(
          TraceRig.device,
          .receipt(.acknowledged(.notifications(Position(bits: .max), .token)))),
      ]
    }
  }

  private static func explained(
    _ change: UInt64, _ kind: Kind, subscriptions: Int, wakes: UInt32 = 2
  ) -> (found: Explanation?, steps: Int) {
    var steps = 0
    let found = Explanation.of(
      Sample.nid(change), in: entries(kind, subscriptions: subscriptions, wakes: wakes),
      Standing(device: TraceRig.device, at: Sample.start), counting: &steps)
    return (found.last, steps)
  }

  /// A user may have a thousand subscriptions, and one change may fire all of them.
  @Test(arguments: Kind.allCases)
  func `an explanation looks at each entry and each delivery some times only`(kind: Kind) {
    for count in [100, 1_000] {
      let first = Self.explained(1, kind, subscriptions: count)
      let entries = Int(Self.changes) * (count + 1) + 6
      #expect(first.found?.deliveries.count == count)
      #expect(first.steps < entries + 20 * count, "\(count): \(first.steps)")
      let woken: Explanation.Outcome = kind == .crowdedAlerts ? .not(.crowdedOut) : .woken(1)
      #expect(first.found?.outcome == woken)
    }
    #expect(Self.explained(Self.changes, kind, subscriptions: 100).found?.outcome == .woken(1))
  }

  /// The first wake tells all deliveries, and its acknowledgement settles them.
  @Test func `later wakes do not look at settled deliveries`() {
    let steps = [2, 102].map { wakes in
      Self.explained(1, .query, subscriptions: 100, wakes: wakes).steps
    }
    #expect(steps[1] - steps[0] <= 10 * 100)
  }
}
