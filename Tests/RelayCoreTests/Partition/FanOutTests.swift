import RelayCore
import Testing

/// A change for more users than one step reaches goes on in slices, each a fact of its own.
@Suite struct FanOutTests {
  private let rule = Subscription.Rule.query(QueryRule(recordType: "Article"))

  private func limits(_ slice: Int = 2) -> Limits {
    var limits = Limits()
    limits.fanOutSlice = slice
    return limits
  }

  /// A partition with `count` subscribers to public changes.
  private func rig(_ slice: Int = 2, users count: Int = 5) -> (PartitionRig, [UserID]) {
    let guests = users(count, inHomeOf: Sample.owner, true)
    var rig = PartitionRig(limits: limits(slice))
    for (index, user) in guests.enumerated() {
      rig.register(UInt64(index + 1), of: user)
      rig.save("q", rule, .public, of: user)
    }
    return (rig, guests)
  }

  private func publicChange(_ rig: inout PartitionRig, _ record: String, _ serial: UInt64) {
    let change = rig.make(.record(.created, record), in: .publicDefault, .public)
    rig.hear(.change(change, at: Sample.position(serial)), serial)
  }

  private func journalled(_ effects: [Effect]) -> [Fact] {
    effects.compactMap { effect in
      guard case .journal(_, let fact) = effect else { return nil }
      return fact
    }
  }

  /// Steps the facts, and the slices that follow them, until none is left.
  private func finish(_ facts: [Fact], _ rig: inout PartitionRig) {
    var queue = facts
    while !queue.isEmpty {
      rig.step(queue.removeFirst())
      queue += journalled(rig.last)
    }
  }

  @Test func `all subscribers are reached once, slice by slice`() {
    var (rig, guests) = rig()
    publicChange(&rig, "A1", 1)
    var matched = [rig.partition.ledger.matched]
    while let fact = journalled(rig.last).first {
      rig.step(fact)
      matched.append(rig.partition.ledger.matched)
    }
    #expect(matched == [0, 2, 4, 5])
    let cut = rig.fold()
    #expect(cut.fanOuts.isEmpty && cut.fanOutsMoved.isEmpty && cut.fanOutsEnded.count == 1)
    for user in guests { #expect(cut.feed(.notifications(user))?.deltas.count == 1) }
  }

  /// A change for up to a tenth of a slice is stepped in one fact, as most changes concern few
  /// users.
  ///
  /// Limit: limits.fanOutSlice
  @Test(arguments: [(subscribers: 4, isSliced: false), (5, false), (6, true)])
  func `a change for few users is stepped at once, for more users in slices`(
    subscribers: Int, isSliced: Bool
  ) {
    var (rig, _) = rig(50, users: subscribers)
    publicChange(&rig, "A1", 1)
    #expect(journalled(rig.last).count == (isSliced ? 1 : 0))
    #expect(rig.partition.ledger.matched == (isSliced ? 0 : Int64(subscribers)))
    #expect(rig.partition.uncut == (isSliced ? 0 : subscribers))
    rig.fold()
    #expect(rig.partition.uncut == 0)
  }

  /// A change for as many users as a slice may have makes one slice. One more user makes a second
  /// slice.
  @Test(arguments: [(subscribers: 4, slices: [4]), (5, [5]), (6, [5, 6])])
  func `fanOutSlice limits the users of one slice`(subscribers: Int, slices: [Int]) {
    var (rig, _) = rig(5, users: subscribers)
    publicChange(&rig, "A1", 1)
    var matched: [Int] = []
    while let fact = journalled(rig.last).first {
      rig.step(fact)
      matched.append(Int(rig.partition.ledger.matched))
    }
    #expect(matched == slices)
  }

  /// The coordinator bounds the work of a turn, so subscriptions that do not fire count too.
  @Test func `each subscription that a public change is compared with counts as work`() {
    func work(_ count: Int) -> Int {
      var rig = PartitionRig(limits: limits())
      let filter = QueryRule.Filter(field: "title", comparator: .notEquals, value: .string("a"))
      let rule = QueryRule(recordType: "Article", filters: [filter])
      for (index, user) in users(count, inHomeOf: Sample.owner, true).enumerated() {
        rig.register(UInt64(index + 1), of: user)
        rig.save("q", .query(rule), .public, of: user)
      }
      let before = rig.partition.work
      publicChange(&rig, "A1", 1)
      #expect(rig.partition.ledger.matched == 0 && journalled(rig.last).isEmpty)
      return rig.partition.work - before
    }
    // Each subscription counts as two units of work: one for itself and one for its filter.
    #expect(work(60) - work(10) == 50 * 2)
  }

  @Test func `a record's later changes wait for its first, other records do not`() {
    var (rig, _) = rig()
    publicChange(&rig, "A1", 1)
    let first = journalled(rig.last)
    publicChange(&rig, "A1", 2)
    #expect(journalled(rig.last).isEmpty && rig.partition.ledger.matched == 0)
    publicChange(&rig, "B2", 3)
    let second = journalled(rig.last)
    #expect(first.count == 1 && second.count == 1)
    finish(first + second, &rig)
    #expect(rig.partition.ledger.matched == 15 && rig.partition.ledger.isBalanced)
    #expect(rig.fold().fanOuts.isEmpty && rig.partition.unfinished.isEmpty)
  }

  @Test func `a subscription saved after a change is not reached by its later slices`() {
    var (rig, _) = rig()
    publicChange(&rig, "A1", 1)
    let slices = journalled(rig.last)
    let late = users(6, inHomeOf: Sample.owner, true)[5]
    rig.register(9, of: late)
    rig.save("q", rule, .public, of: late)
    finish(slices, &rig)
    #expect(rig.partition.ledger.matched == 5)
  }

  /// P9: a change in a zone is told only to users who took part in the zone at that time.
  @Test func `a participant added after a change is not reached by its later slices`() {
    let guests = users(6, inHomeOf: Sample.owner, true)
    let zone = ZoneID(name: "Shared", owner: users(1, inHomeOf: Sample.owner, false)[0])
    var rig = PartitionRig(limits: limits())
    func join(_ number: Int) {
      rig.register(UInt64(number), of: guests[number - 1])
      rig.save("all", .database(recordType: nil), .shared, of: guests[number - 1])
      let grant = rig.make(.granted(guests[number - 1]), in: zone)
      rig.hear(.change(grant, at: Sample.position(1)), UInt64(10 * number))
    }
    for number in 1...5 { join(number) }
    rig.hear(.change(rig.make(.record(.created), in: zone), at: Sample.position(2)), 55)
    let slices = journalled(rig.last)
    join(6)
    #expect(slices.count == 1 && rig.partition.ledger.matched == 6, "six grants")
    finish(slices, &rig)
    #expect(rig.partition.ledger.matched == 11, "and five hear of the record")
    let grant = rig.fold().feed(.database(guests[5], .shared))?.deltas.first?.delta.last
    #expect(grant?.position == Sample.position(19))
  }

  /// A change is for more than a thousand users. After a crash at any slice, the replay goes on
  /// from that slice.
  @Test func `a fan-out continues at the same slice after a crash`() {
    let (start, guests) = rig(500, users: 1_200)
    for crash in 0...3 {
      var rig = start
      var tables = PartitionTables(id: rig.partition.id, cursor: Ordinal(rig.ordinal))
      let before = rig.fold()
      (tables.devices, tables.subscriptions) = (before.devices, before.subscriptions)
      publicChange(&rig, "A1", 1)
      var queue = journalled(rig.last)
      for _ in 0..<crash where !queue.isEmpty {
        rig.step(queue.removeFirst())
        queue += journalled(rig.last)
      }
      var again = Partition(tables, limits: limits(500), policy: WakePolicy())
      var ignored: [Effect] = []
      for row in rig.journal where row.ordinal > tables.cursor {
        again.step(row.fact, ordinal: row.ordinal, at: row.at, into: &ignored)
      }
      rig.partition = again
      queue = again.unfinished
      // A repeated slice that is journalled already is harmless.
      rig.step(.slice(Slice(origin: Ordinal(2_401), cursor: .zero)))
      finish(queue + journalled(rig.last), &rig)
      #expect(rig.partition.ledger.matched == 1_200)
      #expect(rig.partition.ledger.pending == 1_200)
      let cut = rig.fold()
      #expect(guests.allSatisfy { cut.feed(.notifications($0))?.deltas.count == 1 })
    }
  }

  @Test func `several subscriptions of one user get separate positions`() {
    let user = users(1, inHomeOf: Sample.owner, true)[0]
    var rig = PartitionRig(limits: limits(100))
    for index in 0..<4 {
      let rule = QueryRule(
        recordType: "Article", firesOn: QueryRule.Firing(rawValue: UInt8(index * 2 + 1)))
      rig.save("q\(index)", .query(rule), .public, of: user)
    }
    publicChange(&rig, "A1", 1)
    let deltas = rig.fold().feed(.notifications(user))?.deltas ?? []
    #expect(deltas.map { $0.delta.last.position } == (0..<4).map { Sample.position(5, $0) })
  }
}
