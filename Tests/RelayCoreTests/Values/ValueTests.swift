import Testing

@testable import RelayCore

/// Small decisions of plain values.
@Suite struct ValueTests {
  @Test func `a change without a time gets the relay's time, and another keeps its own`() {
    func time(_ given: Instant) -> Instant? {
      let change = Change(
        scope: Sample.scope, database: .private, zone: Sample.zone, event: .zone(.created),
        time: given, notification: Sample.nid(1), fingerprint: 1)
      guard case .change(let accepted) = Fact.change(change).accepted(at: .s(5)) else { return nil }
      return accepted.time
    }
    #expect(time(.zero) == .s(5))
    #expect(time(.s(2)) == .s(2))
  }

  @Test func `a cut is written to its partitions, and the last one and an empty one to all`() {
    let owned = [1, 2, 3].map { PartitionID($0) }
    var cut = Cut(at: .s(0), partitions: [PartitionCut(id: owned[1], cursor: .zero)])
    #expect(cut.written(of: owned) == [owned[1]])
    cut.isLast = true
    #expect(cut.written(of: owned) == Set(owned))
    cut.partitions = []
    #expect(cut.written(of: owned) == Set(owned))
    cut.isLast = false
    #expect(cut.written(of: owned) == Set(owned))
  }

  @Test(arguments: [
    ("a", Environment?.none, true), ("b", nil, false), (nil, .development, true),
    (nil, .production, false), ("a", .development, true), ("a", .production, false),
    (nil, nil, true),
  ])
  func `a query for feedback means the scopes that it names`(
    container: String?, environment: Environment?, isMeant: Bool
  ) {
    let query = FeedbackQuery(
      after: .zero, limit: 1, container: container, environment: environment)
    #expect(query.means(Scope(container: "a", environment: .development)) == isMeant)
  }

  @Test func `zones are ordered by owner, then name`() {
    let zones = ["a", "b"].flatMap { owner in
      ["Y", "Z"].map { ZoneID(name: $0, owner: UserID(owner)) }
    }
    for (index, left) in zones.enumerated() {
      for (other, right) in zones.enumerated() { #expect((left < right) == (index < other)) }
    }
  }

  @Test func `a queue of fan-outs gives up the memory of those that have ended`() {
    let change = Change(
      scope: Sample.scope, database: .private, zone: Sample.zone, event: .zone(.created),
      time: .s(0), notification: Sample.nid(1), fingerprint: 1)
    let outs = (1...2 as ClosedRange<UInt64>).map {
      FanOut(
        origin: Ordinal($0), change: change, zonePosition: Sample.position($0), cursor: .zero,
        since: .s(0))
    }
    var queue = FanOutQueue(loading: [outs[0]])
    queue.keep(outs[1])
    #expect(queue.bytes == 2 * change.footprint && change.footprint > 0)
    for out in outs { queue.end(out) }
    #expect(queue.bytes == 0 && queue.isEmpty)
  }

  @Test func `the readers of a feed wait for a fold after each kind of change of the feed`() {
    let feed = FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))
    let changes: [(inout FeedBuffers, inout [Effect]) -> Void] = [
      { $0.clear(feed, at: Sample.position(2), &$1) },
      { $0.raiseFloor(of: feed, to: Sample.position(2), &$1) },
      { $0.show(gap: true, in: feed, &$1) },
    ]
    for change in changes {
      var (buffers, effects) = (FeedBuffers(limits: Limits()), [Effect]())
      change(&buffers, &effects)
      guard case .dirtied(.feed(feed))? = effects.first else {
        Issue.record("nobody waits: \(effects)")
        continue
      }
    }
  }

  @Test func `feedback has another id if any part of it differs`() {
    func id(
      _ user: String = "u", _ client: UInt64 = 1, _ registration: UInt64 = 1, at: Double = 0,
      _ news: Feedback.News = .returned
    ) -> Identifier {
      let device = DeviceKey(
        scope: Sample.scope, user: UserID(user), client: Sample.client(client))
      return Feedback(
        device: device, address: Sample.address(1), registeredAt: .s(0),
        registration: Ordinal(registration), at: .s(at), news: news
      ).id
    }
    let ids = [
      id(), id("v"), id("u", 2), id("u", 1, 2), id(at: 1),
      id("u", 1, 1, at: 0, .retired(reason: "gone", since: nil)),
    ]
    #expect(Set(ids).count == ids.count && id() == id())
  }

  @Test func `two appearances of a notification differ if one part differs`() {
    let changes: [(inout NotificationInfo) -> Void] = [
      { $0.alert.body = "a" }, { $0.alert.titleArguments = ["a"] }, { $0.badges = true },
      { $0.sound = "a" }, { $0.category = "a" }, { $0.isContentAvailable = true },
      { $0.isMutable = true }, { $0.desiredKeys = ["a"] }, { $0.collapseKey = "a" },
    ]
    let infos = changes.map { change in
      var info = NotificationInfo()
      change(&info)
      return info
    }
    for (index, left) in infos.enumerated() {
      #expect(left != NotificationInfo())
      for (other, right) in infos.enumerated() { #expect((left == right) == (index == other)) }
    }
  }

  @Test func `interests are ordered by scope, then database, then record type`() {
    let scopes = ["a", "b"].map { Scope(container: $0, environment: .development) }
    let databases = [Database.public, .shared].sorted()
    let keys = scopes.flatMap { scope in
      databases.flatMap { database in
        ["A", "B"].map { Interest.Key(scope: scope, database: database, recordType: $0) }
      }
    }
    for (index, left) in keys.enumerated() {
      for (other, right) in keys.enumerated() { #expect((left < right) == (index < other)) }
    }
  }
}
