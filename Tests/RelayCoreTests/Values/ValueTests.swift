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

  @Test(arguments: [
    (TokenExpiry(), true), (TokenExpiry(container: Sample.scope.container), true),
    (TokenExpiry(container: "other"), false), (TokenExpiry(environment: .production), false),
    (TokenExpiry(user: Sample.owner), true), (TokenExpiry(user: UserID("_b")), false),
  ])
  func `an expiry of tokens means the feeds that it names`(expiry: TokenExpiry, isMeant: Bool) {
    #expect(expiry.means(FeedKey(scope: Sample.scope, kind: .zone(Sample.zone))) == isMeant)
  }

  /// Another assignment would look for users in partitions that do not have them.
  @Test func `the partition of a user never changes`() {
    func homes(_ container: String, _ environment: Environment) -> [UInt16] {
      ["_a", "_b", "_é"].map {
        PartitionID.home(
          of: UserID($0), in: Scope(container: container, environment: environment)
        ).number
      }
    }
    #expect(homes("iCloud.com.example.notes", .development) == [48, 25, 34])
    #expect(homes("iCloud.com.example.notes", .production) == [13, 36, 42])
    #expect(homes("iCloud.com.example.other", .production) == [55, 14, 22])
  }

  @Test(arguments: [
    (user: "_b", client: UInt64?(1), shown: UserID?(UserID("_b"))), ("_b", nil, nil),
    (Sample.owner.name, 1, nil),
  ])
  func `feeds show an author who has a client and is not the zone's owner`(
    user: String, client: UInt64?, shown: UserID?
  ) {
    let record = RecordChange(verb: .updated, name: "r", type: "A")
    let change = Change(
      scope: Sample.scope, database: .private, zone: Sample.zone, event: .record(record),
      author: Change.Author(user: UserID(user), client: client.map { Sample.client($0) }),
      time: .s(0), notification: Sample.nid(1), fingerprint: 1)
    let mutation = change.mutation(of: record, Sample.position(1), at: .s(0))
    #expect(mutation.detail == .record(type: "A", tag: nil, author: shown))
  }

  /// The relay can refuse a registration or a read mark, too. Such a refusal must not count as a
  /// rejected change.
  @Test(arguments: [
    (Refusal.tooManyParticipants(max: 1), Int64(1)), (.tooManyDevices(max: 1), 0),
    (.tooManyReadMarks(max: 1), 0),
  ])
  func `only a refused change counts as a rejected change`(refusal: Refusal, rejected: Int64) {
    var counters = Counters()
    counters.count(Answer.refused(refusal))
    #expect(counters.changes.rejected == rejected)
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
