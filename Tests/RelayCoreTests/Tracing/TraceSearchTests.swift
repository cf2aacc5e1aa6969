import Testing

@testable import RelayCore

/// Which changes a question is about.
@Suite struct TraceSearchTests {
  private static let own = ZoneID(name: "Notes", owner: Sample.owner)
  private static let foreign = ZoneID(name: "Notes", owner: UserID("_other"))

  private static func change(_ number: UInt64, in zone: ZoneID) -> TraceEntry {
    let change = TracedChange(
      notification: Identifier(high: 1, low: number), scope: Sample.scope, database: .private,
      zone: zone, event: .record(RecordChange(verb: .created, name: "A", type: "T")), author: nil,
      place: FactPlace(partition: PartitionID(1), ordinal: Ordinal(number)), isSuperseded: false)
    return TraceEntry(at: Sample.start, .change(change))
  }

  private func found(_ zone: TraceSearch.Question.Zone, of client: ClientID?) -> [UInt64] {
    var question = TraceSearch.Question()
    (question.zone, question.client) = (zone, client)
    var search = TraceSearch(question, known: client == nil ? [] : [TraceRig.device])
    search.find(Self.change(1, in: Self.own))
    search.find(Self.change(2, in: Self.foreign))
    return search.found.map(\.low)
  }

  /// Two users may have zones of the same name.
  @Test func `a device's zone without an owner is the zone of its user`() {
    let device = TraceRig.device.client
    #expect(found(.init(name: "Notes", owner: nil), of: device) == [1])
    #expect(found(.init(name: "Notes", owner: Self.foreign.owner), of: device) == [2])
    #expect(found(.init(name: "Notes", owner: nil), of: nil) == [1, 2])
  }

  /// The installation need not be registered any more.
  @Test func `a question about an installation finds the changes that concern it`() {
    var question = TraceSearch.Question()
    question.client = TraceRig.device.client
    var search = TraceSearch(question, known: [])
    for (number, client) in [(1, Sample.client(1)), (2, Sample.client(2))] as [(UInt64, ClientID)] {
      let match = TracedMatch(
        notification: Identifier(high: 1, low: number),
        user: Users.Key(scope: Sample.scope, user: Sample.owner), subscription: SubscriptionID("s"),
        database: .private, zone: Self.own, position: Position(Ordinal(number)),
        zonePosition: Position(Ordinal(number)),
        devices: [TracedMatch.Device(client: client, outcome: .own)])
      search.find(TraceEntry(at: Sample.start, .matched(match)))
    }
    #expect(search.found.map(\.low) == [1])
  }

  @Test(arguments: [Environment.development, .production])
  func `a question about an environment finds no change of the other one`(
    environment: Environment
  ) {
    var question = TraceSearch.Question()
    question.zone = .init(name: "Notes", owner: nil)
    question.environment = environment
    var search = TraceSearch(question, known: [])
    search.find(Self.change(1, in: Self.own))
    #expect(search.found.isEmpty == (environment != Sample.scope.environment))
  }

  /// The story of a change tells when its device's route had no provider.
  @Test func `the events of routes are collected for the containers of the devices`() {
    var question = TraceSearch.Question()
    question.zone = .init(name: "Notes", owner: nil)
    question.client = TraceRig.device.client
    var search = TraceSearch(question, known: [TraceRig.device])
    let change = Self.change(1, in: Self.own)
    let routes = [Sample.scope.container, "other"].map { container in
      RouteKey(
        scope: Scope(container: container, environment: Sample.scope.environment),
        transport: .apns, topic: Sample.topic)
    }
    search.find(change)
    search.collect(change)
    for route in routes { search.collect(TraceEntry(at: .s(1), .route(route, .withdrawn))) }
    let found = search.entries.compactMap { entry -> RouteKey? in
      if case .route(let route, _) = entry.event { route } else { nil }
    }
    #expect(found == [routes[0]])
  }

  /// The oldest entry that the recorder still has may be of any kind.
  @Test func `the search knows since when there are entries`() {
    let match = TracedMatch(
      notification: Identifier(high: 1, low: 1),
      user: Users.Key(scope: Sample.scope, user: Sample.owner), subscription: SubscriptionID("s"),
      database: .private, zone: Self.own, position: Position(Ordinal(1)),
      zonePosition: Position(Ordinal(1)), devices: [])
    let events: [TraceEvent] = [
      .matched(match), .device(TraceRig.device, .waitsForConnection),
      Self.change(1, in: Self.own).event,
    ]
    for event in events {
      var search = TraceSearch(TraceSearch.Question(), known: [])
      for seconds in [0, 1] as [Int64] {
        search.find(TraceEntry(at: Sample.start + .seconds(seconds), event))
      }
      #expect(search.since == Sample.start, "\(event)")
    }
  }
}
