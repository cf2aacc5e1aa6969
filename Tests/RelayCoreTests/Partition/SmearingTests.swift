@testable import RelayCore
import Testing

/// Hot changes in a partition: the order and the times of wakes, over many changes, restarts and
/// reloads.
@Suite struct SmearingTests {
  static let rule = Subscription.Rule.query(QueryRule(recordType: "Article"))
  private static let commons = ZoneID.publicDefault

  /// With this policy each partition sends one wake a second, and a change for more than one user
  /// of a partition is hot.
  static func policy(
    _ rate: Int? = 64, longest: Span = .minutes(10)
  ) -> WakePolicy {
    var policy = WakePolicy()
    policy.smearing.above = 64
    policy.smearing.rate = rate
    policy.smearing.longest = longest
    policy.background = Budget.Rule(max: 1_000, per: .hours(1))
    return policy
  }

  private static func limits(_ slice: Int) -> Limits {
    var limits = Limits()
    limits.fanOutSlice = slice
    return limits
  }

  /// A partition with `count` subscribers of the public database, one device each.
  static func rig(
    _ count: Int, slice: Int = 1_000, policy: WakePolicy = policy(), visible: Bool = false
  ) -> PartitionRig {
    var rig = PartitionRig(limits: limits(slice), policy: policy)
    for (index, user) in users(count, inHomeOf: Sample.owner, true).enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("q", rule, .public, of: user, visible: visible)
    }
    return rig
  }

  @Test func `the wakes of a hot change are spread at the configured rate`() {
    var rig = Self.rig(30)
    rig.publish(1)
    let wakes = rig.wakes(for: 40)
    #expect(wakes.count == 30 && Set(wakes.map(\.user)).count == 30)
    for (one, next) in zip(wakes, wakes.dropFirst()) {
      #expect(abs((next.at - one.at).milliseconds - 1_000) <= 200)
    }
    #expect(wakes.allSatisfy { !$0.text.contains("\"nb\"") }, "their time has come")
  }

  /// In partition 0 a smear begins at once, so the first lane that missed its slot is woken now.
  @Test func `of two late lanes one is woken at once and one in its new slot`() throws {
    let owners = (0..<1_000).map { UserID("_\($0)") }
    let owner = try #require(
      owners.first { PartitionID.home(of: $0, in: Sample.scope) == PartitionID(0) })
    var rig = PartitionRig(owner, policy: Self.policy())
    for (index, user) in users(2, inHomeOf: owner, true).enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("q", Self.rule, .public, of: user)
    }
    rig.publish(1)
    rig.now = rig.now + .seconds(57)
    #expect(rig.wake().count == 1)
    #expect(rig.wake(after: 2).count == 1)
  }

  @Test func `wakes of few users, or without a rate, are sent at once`() {
    var few = Self.rig(1)
    few.publish(1)
    #expect(few.wakes(for: 3).count == 1)
    var off = Self.rig(30, policy: Self.policy(nil))
    off.publish(1)
    #expect(off.wakes(for: 3).count == 30)
  }

  /// In slices and in one step, each user is woken once, whichever user comes first.
  @Test(arguments: [1, 3, 10, 300, 1_000])
  func `a hot change reaches every subscriber once, whatever the slice size`(slice: Int) {
    var rig = Self.rig(30, slice: slice)
    for serial in 1...5 {
      let before = rig.partition.ledger.matched
      rig.publish(UInt64(serial))
      #expect(rig.partition.ledger.matched == before + 30)
      #expect(Set(rig.wakes(for: 60).map(\.user)).count == 30)
    }
    #expect(rig.partition.ledger.isBalanced && rig.partition.ledger.pending == 0)
  }

  /// Fairness: over many hot changes no user always comes first or always last.
  @Test(arguments: [10, 1_000])
  func `over many hot changes every user is sometimes early and sometimes late`(slice: Int) {
    var rig = Self.rig(20, slice: slice)
    var places: [UserID: [Int]] = [:]
    for serial in 1...60 {
      rig.publish(UInt64(serial))
      for (place, wake) in rig.wakes(for: 40).enumerated() {
        places[wake.user, default: []].append(place)
      }
    }
    #expect(places.count == 20)
    for (user, places) in places {
      let mean = Double(places.reduce(0, +)) / Double(places.count)
      #expect((7...12).contains(mean), "\(user.name) comes \(mean) on average")
      #expect(places.min()! < 3 && places.max()! > 16, "\(user.name)")
    }
  }

  @Test func `successive hot changes together keep the wake rate`() {
    var rig = Self.rig(20)
    var wakes: [PartitionRig.Wake] = []
    for serial in 1...4 {
      rig.publish(UInt64(serial), record: "r\(serial)")
      wakes += rig.wakes(for: 5)
    }
    wakes += rig.wakes(for: 60)
    for wake in wakes {
      let second = wakes.count { $0.at >= wake.at && $0.at < wake.at + .seconds(1) }
      #expect(second <= 2)
    }
    let last = Dictionary(grouping: wakes, by: \.user).mapValues { $0.map(\.at).max()! }
    #expect(last.count == 20 && last.values.allSatisfy { $0 <= .s(60) })
  }

  @Test func `a wake for another zone is sent at once and names the hot zone's slot`() throws {
    var rig = Self.rig(30)
    let user = users(30, inHomeOf: Sample.owner, true)[7]
    let own = ZoneID(name: "Own", owner: user)
    rig.save("own", .zone(own, recordType: nil), of: user)
    rig.publish(1)
    rig.change(.record(.created), in: own)
    let wakes = rig.wakes(for: 40)
    let first = try #require(wakes.first { $0.user == user })
    #expect(first.at <= .s(1))
    let slot = try #require(first.notBefore)
    #expect(slot > first.at && slot <= .s(33))
    #expect(first.text.contains(#""z":[["Own","\#(user.name)",1]],"q":1,"nb":"#))
    #expect(wakes.count { $0.user == user } == 1, "it was told of the hot change with it")
  }

  /// The relay's own time may be behind the wall clock, or ahead of one that was set back. Devices
  /// and providers know only the wall clock.
  @Test func `a push states its times by the wall clock`() throws {
    func first(_ wallAhead: Span) throws -> (push: PushAttempt, notBefore: Instant) {
      var rig = Self.rig(30, visible: true)
      rig.wallAhead = wallAhead
      rig.publish(1)
      let push = try #require(rig.wake(after: 3).first { $0.text.contains("nb") })
      let wake = PartitionRig.Wake(at: rig.now, user: push.device.user, text: push.text)
      return (push, try #require(wake.notBefore))
    }
    let plain = try first(.zero)
    for wallAhead in [Span.days(3), .days(-3)] {
      let shifted = try first(wallAhead)
      #expect(shifted.push.expires == plain.push.expires + wallAhead)
      #expect(shifted.notBefore == plain.notBefore + wallAhead)
    }
  }

  /// A partition in which participants of another user's zone have a database subscription each.
  private struct SharedZone {
    var rig: PartitionRig
    private let zone = ZoneID(name: "Team", owner: users(1, inHomeOf: Sample.owner, false)[0])
    private var serial: UInt64 = 0

    init(_ participants: Int, slice: Int = 1_000, policy: WakePolicy = policy()) {
      rig = PartitionRig(limits: limits(slice), policy: policy)
      for (index, user) in users(participants, inHomeOf: Sample.owner, true).enumerated() {
        rig.register(UInt64(index + 1), of: user)
        rig.save("db", .database(recordType: nil), .shared, of: user)
        hear(.granted(user))
      }
    }

    mutating func hear(_ event: Change.Event) {
      serial += 1
      rig.hear(.change(rig.make(event, in: zone), at: Sample.position(serial)), serial)
      rig.goOn()
    }
  }

  @Test(arguments: [1_000, 10])
  func `a shared zone with many participants is hot`(slice: Int) {
    var shared = SharedZone(20, slice: slice)
    #expect(shared.rig.wakes(for: 5).count == 20, "a grant concerns one user alone")
    shared.hear(.record(.updated))
    let wakes = shared.rig.wakes(for: 40)
    #expect(wakes.count == 20)
    #expect(wakes.last!.at - wakes.first!.at >= .seconds(18))
  }

  /// The bound counts the users of all 64 partitions together; here it is three for each partition.
  private static func boundOfThree() -> WakePolicy {
    var policy = policy()
    policy.smearing.above = 3 * 64
    return policy
  }

  /// Whether a change in slices is hot is decided before its users are visited.
  @Test(arguments: [(participants: 3, isHot: false), (4, true)], [1_000, 2])
  func `a shared zone is hot from one participant above the bound`(
    _ zone: (participants: Int, isHot: Bool), slice: Int
  ) {
    var shared = SharedZone(zone.participants, slice: slice, policy: Self.boundOfThree())
    _ = shared.rig.wakes(for: 5)
    shared.hear(.record(.updated))
    let wakes = shared.rig.wakes(for: 10)
    #expect(wakes.count == zone.participants)
    #expect((Set(wakes.map(\.at)).count > 1) == zone.isHot)
  }

  @Test(arguments: [(users: 3, isHot: false), (4, true)], [1_000, 2])
  func `a public change is hot from one subscriber above the bound`(
    _ subscribers: (users: Int, isHot: Bool), slice: Int
  ) {
    var rig = Self.rig(subscribers.users, slice: slice, policy: Self.boundOfThree())
    rig.publish(1)
    let wakes = rig.wakes(for: 10)
    #expect(wakes.count == subscribers.users)
    #expect((Set(wakes.map(\.at)).count > 1) == subscribers.isHot)
  }

  /// As in a public database, no participant is always the first.
  @Test(arguments: [1_000, 5])
  func `hot changes of a shared zone begin with different participants`(slice: Int) {
    var shared = SharedZone(20, slice: slice)
    _ = shared.rig.wakes(for: 40)
    let first = (1...12).compactMap { _ in
      shared.hear(.record(.updated))
      return shared.rig.wakes(for: 60).first?.user
    }
    #expect(first.count == 12 && Set(first).count >= 4, "\(first.map(\.name))")
  }

  /// P11: smears of zones that are no longer hot are forgotten; otherwise their number would only
  /// grow.
  @Test func `a partition forgets the smears of zones that are no longer hot`() {
    var rig = PartitionRig(policy: Self.policy())
    let owner = users(1, inHomeOf: Sample.owner, false)[0]
    let zones = (1...5).map { ZoneID(name: "Team\($0)", owner: owner) }
    func hear(_ event: Change.Event, _ zone: ZoneID) {
      let serial = rig.ordinal + 1
      rig.hear(.change(rig.make(event, in: zone), at: Sample.position(serial)), serial)
    }
    for (index, user) in users(3, inHomeOf: Sample.owner, true).enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("db", .database(recordType: nil), .shared, of: user)
      for zone in zones { hear(.granted(user), zone) }
    }
    _ = rig.wakes(for: 5)
    for zone in zones {
      hear(.record(.updated), zone)
      #expect(rig.partition.pacers.count == 1)
      #expect(rig.wakes(for: 10).count == 3)
    }
  }

  @Test func `a producer's fetch capacity limits the rate where it is smaller`() {
    for (rate, capacity, seconds) in [(64, 32, 38.0), (64, 640, 19), (nil, 64, 19), (nil, 32, 38)] {
      var rig = Self.rig(20, policy: Self.policy(rate))
      rig.publish(1, capacity: capacity)
      let wakes = rig.wakes(for: 60)
      #expect(wakes.count == 20)
      let took = wakes.last!.at - wakes.first!.at
      #expect(abs(took.milliseconds - Int64(seconds * 1_000)) < 1_000)
    }
  }

  @Test func `a smear keeps to its longest spread, and the partition reports it`() {
    var rig = Self.rig(30, policy: Self.policy(1, longest: .seconds(20)))
    rig.publish(1)
    #expect(rig.effects.contains(.hurried(Sample.scope)) && rig.partition.pacers.hurried > 0)
    let wakes = rig.wakes(for: 25)
    #expect(wakes.count == 30)
    let late = wakes.count { $0.at > .s(10) }
    #expect((8...22).contains(late), "\(late) of 30 in the second half")
  }

  @Test func `after a restart devices still wait for their slots and wake one by one`() {
    for pause in [0.0, 3_600] {
      var rig = Self.rig(30)
      rig.publish(1)
      let before = rig.wakes(for: 10.5).map(\.user)
      rig = rig.restarted(policy: Self.policy())
      rig.now = rig.now + Span(milliseconds: Int64(pause * 1_000))
      let after = rig.wakes(for: 60)
      #expect(Set(before + after.map(\.user)).count == 30)
      #expect(before.count + after.count == 30)
      for wake in after {
        let second = after.count { $0.at >= wake.at && $0.at < wake.at + .seconds(1) }
        #expect(second <= 3)
      }
    }
  }

  @Test func `a new smear starts behind the wakes that a restart has found`() {
    var rig = Self.rig(30)
    rig.publish(1)
    rig.fold()
    rig = rig.restarted(policy: Self.policy())
    for (index, user) in users(40, inHomeOf: Sample.owner, true).enumerated().dropFirst(30) {
      rig.register(UInt64(index + 1), of: user)
      rig.save("q", Self.rule, .public, of: user)
    }
    rig.publish(2)
    let wakes = rig.wakes(for: 60)
    #expect(wakes.count == 40)
    #expect(wakes.suffix(5).allSatisfy { $0.at >= .s(33) })
  }

  @Test func `a reload applies another rate to the wakes that wait`() {
    for (rate, last) in [(128, 20.0...21.5), (32, 48.5...51.5), (nil, 29.5...31.5)] {
      var rig = Self.rig(30)
      rig.publish(1)
      let before = rig.wakes(for: 10.5)
      rig.partition.reconfigure(Self.policy(rate), at: rig.now)
      _ = rig.partition.markOutdated(atMost: 30)
      let after = rig.wakes(for: 60)
      #expect(before.count + after.count == 30)
      let took = Double((after.last!.at - Sample.start).milliseconds) / 1_000
      #expect(last.contains(took), "rate \(rate ?? 0)")
    }
  }
}

extension PartitionRig {
  /// One wake of a rig that runs for a while.
  struct Wake {
    var at: Instant
    var user: UserID
    var text: String
    /// The moment that the payload asks the device to wait for.
    var notBefore: Instant? {
      guard case .number(let seconds)? = JSONChecker.read(Array(text.utf8))?["zr"]?["nb"] else {
        return nil
      }
      return Int64(seconds).map { Instant(milliseconds: $0 * 1_000) }
    }
  }

  /// Steps a public change and all its slices.
  mutating func publish(_ serial: UInt64, record: String = "A1", capacity: Int = 0) {
    var change = make(.record(.updated, record), in: .publicDefault, .public)
    change.fetchCapacity = capacity
    hear(.change(change, at: Sample.position(serial)), serial)
    goOn()
  }

  mutating func goOn() {
    while let slice = last.lazy.compactMap(\.slice).first { step(slice) }
  }

  /// Runs for `seconds`, and delivers every due wake at once.
  mutating func wakes(for seconds: Double) -> [Wake] {
    var wakes: [Wake] = []
    let end = now + Span(milliseconds: Int64(seconds * 1_000))
    while now < end {
      now = now + Span(milliseconds: 100)
      for attempt in wake(after: 0) {
        wakes.append(Wake(at: now, user: attempt.device.user, text: attempt.text))
        ended(attempt, .delivered)
      }
    }
    return wakes
  }

  /// The partition after a crash, with the tables that its cuts made.
  func restarted(policy: WakePolicy) -> PartitionRig {
    var rig = self
    rig.fold()
    var tables = PartitionTables(id: partition.id, cursor: Ordinal(rig.ordinal))
    for cut in rig.cuts {
      for row in cut.devices {
        tables.devices.removeAll { $0.key == row.key }
        tables.devices.append(row)
      }
      tables.subscriptions += cut.subscriptions
      tables.heard = cut.heard.isEmpty ? tables.heard : cut.heard
      tables.fanOuts += cut.fanOuts
      for move in cut.fanOutsMoved {
        for index in tables.fanOuts.indices where tables.fanOuts[index].origin == move.origin {
          (tables.fanOuts[index].cursor, tables.fanOuts[index].turn) = (move.cursor, move.turn)
        }
      }
      tables.fanOuts.removeAll { cut.fanOutsEnded.contains($0.origin) }
    }
    var next = PartitionRig(limits: Limits(), policy: policy)
    next.partition = Partition(tables, limits: Limits(), policy: policy)
    (next.ordinal, next.now, next.fingerprint) = (rig.ordinal, rig.now, rig.fingerprint)
    return next
  }
}

extension Effect {
  fileprivate var slice: Fact? {
    guard case .journal(_, let fact) = self else { return nil }
    return fact
  }
}
