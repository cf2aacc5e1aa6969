import Testing

@testable import RelayCore

/// The number of changes that fan out at the same time is bounded, wherever they come from.
@Suite struct FanOutRoomTests {
  private let home = PartitionID.home(of: ZoneID.publicDefault.owner, in: Sample.scope)

  private var limits: Limits {
    var limits = Limits()
    (limits.fanOuts, limits.fanOutSlice) = (2, 1)
    return limits
  }

  private func change(
    _ number: UInt64, bytes: Int = 1, type: String = "Article"
  ) -> Change {
    let record = RecordChange(
      verb: .created, name: "A\(number)", type: type,
      fields: [Field(name: "text", value: .string(String(repeating: "x", count: bytes)))])
    return Change(
      scope: Sample.scope, database: .public, zone: .publicDefault, event: .record(record),
      time: Sample.start, notification: Sample.nid(number), fingerprint: number)
  }

  private func save(_ user: UserID, _ type: String = "Article") -> Fact {
    var info = NotificationInfo()
    info.desiredKeys = ["text"]
    let subscription = Subscription(
      id: SubscriptionID("q"), database: .public, rule: .query(QueryRule(recordType: type)),
      info: info)
    return .modify(
      SubscriptionsRequest(
        scope: Sample.scope, user: user, database: .public, operations: [.save(subscription)]))
  }

  /// A relay, with its forwarding and its ordinals.
  private struct Rig: ~Copyable {
    var relay: Relay
    /// The partition of the subscribers.
    let target: PartitionID
    var forwarding = Forwarding()
    var last: [PartitionID: Ordinal] = [:]

    mutating func step(_ fact: Fact, in id: PartitionID) {
      last[id] = (last[id] ?? .zero).next
      var effects: [Effect] = []
      relay.step(fact, in: id, ordinal: last[id] ?? .zero, at: Sample.start, into: &effects)
    }

    @discardableResult
    mutating func fold() -> Cut {
      let cut = relay.cut(at: Sample.start)
      var effects: [Effect] = []
      relay.folded(cut, at: Sample.start, into: &effects)
      forwarding.add(cut.partitions.flatMap(\.outbox))
      return cut
    }

    /// Delivers messages to their targets as far as the targets have room.
    mutating func deliver() {
      for row in forwarding.take(for: relay) {
        step(
          .forwarded(
            Forwarded(source: row.source, serial: row.key.serial, message: row.message)),
          in: row.key.target)
        relay.delivered(row.key, from: row.source)
        forwarding.delivered(row.key, from: row.source)
      }
    }
  }

  /// A relay with three subscribers in one partition: more users than one step reaches.
  private func rig(inHome: Bool, _ limits: Limits) -> Rig {
    let first = users(1, inHomeOf: ZoneID.publicDefault.owner, inHome)[0]
    let target = PartitionID.home(of: first, in: Sample.scope)
    var rig = Rig(relay: Relay([], limits: limits, policy: WakePolicy()), target: target)
    _ = rig.relay.recovered()
    for user in users(3, inHomeOf: first, true) { rig.step(save(user), in: target) }
    rig.fold()
    rig.deliver()
    return rig
  }

  /// Limit: limits.fanOuts
  @Test(arguments: [true, false])
  func `a change is refused before the bound of fan-outs is passed`(inHome: Bool) {
    var rig = rig(inHome: inHome, limits)
    var reserved = ForwardNeed()
    for number in UInt64(1)...2 {
      let need = rig.relay.need(of: [.change(change(number))])
      #expect(need.fanOuts == [rig.target: 1])
      #expect(rig.relay.room(for: [.change(change(number))], besides: reserved) == .free(need))
      reserved += need
    }
    // A change counts while it waits for its step, while it is on its way, and while it runs.
    let next = Fact.change(change(3))
    #expect(rig.relay.room(for: [next], besides: reserved) == .full(.fanOuts))
    for number in UInt64(1)...2 { rig.step(.change(change(number)), in: home) }
    #expect(rig.relay.room(for: [next], besides: .none) == .full(.fanOuts))
    rig.fold()
    rig.deliver()
    #expect(rig.relay.fanOutRoom(in: rig.target) == 0)
    #expect(rig.relay.room(for: [next], besides: .none) == .full(.fanOuts))
  }

  /// Earlier, each change of a refused request was checked in each partition: a producer that
  /// repeated the request kept the loop busy for a tenth of a second each time.
  @Test func `a request is not checked further after its first change without room`() {
    var rig = rig(inHome: false, limits)
    for number in UInt64(1)...2 { rig.step(.change(change(number)), in: home) }
    var looks = 0
    let facts = (UInt64(3)...1_000).lazy.map { number in
      looks += 1
      return Fact.change(self.change(number))
    }
    #expect(rig.relay.room(for: facts, besides: .none) == .full(.fanOuts))
    #expect(looks == 1)
  }

  /// Two spellings of `é` are two record types, and only one of them has a subscriber. If both were
  /// one type, the interest in one spelling would end with the last subscriber to the other.
  @Test func `two spellings of a record type have separate subscribers`() {
    var rig = rig(inHome: false, limits)
    rig.step(
      save(users(1, inHomeOf: ZoneID.publicDefault.owner, false)[0], "\u{e9}"), in: rig.target)
    rig.fold()
    rig.deliver()
    for types in [["\u{e9}", "e\u{301}"], ["e\u{301}", "\u{e9}"]] {
      let need = rig.relay.need(of: types.map { .change(change(9, type: $0)) })
      #expect(need.messages == 1)
    }
  }

  /// The limits allow two fan-outs at a time. While one runs, one more has room.
  @Test(arguments: [1, 2, 3, 5])
  func `the room of a request is the need of all its changes`(count: UInt64) {
    var rig = rig(inHome: false, limits)
    let facts = (UInt64(10)..<(10 + count)).map { Fact.change(change($0)) }
    let need = rig.relay.need(of: facts)
    #expect(rig.relay.room(for: facts, besides: .none) == .free(need))
    #expect(need.messages == Int(count) && need.fanOuts == [rig.target: Int(count)])
    rig.step(.change(change(1)), in: home)
    #expect(
      rig.relay.room(for: facts, besides: .none) == (count > 1 ? .full(.fanOuts) : .free(need)))
  }

  /// A batch above the bound is accepted while no other change is on its way. The fan-outs of the
  /// batch keep the bound.
  @Test(arguments: [true, false])
  func `the fan-outs of a large batch stay within the bound`(inHome: Bool) {
    var rig = rig(inHome: inHome, limits)
    let batch = (UInt64(1)...5).map { Fact.change(change($0)) }
    #expect(rig.relay.refusal(of: batch) == nil)
    for fact in batch { rig.step(fact, in: home) }
    var ended = 0
    for _ in 0..<40 {
      ended += rig.fold().partitions.reduce(0) { $0 + $1.fanOutsEnded.count }
      rig.deliver()
      // The fan-outs that run in the target and the target's room for more add up to two.
      let slices = rig.relay.partition(rig.target).unfinished
      #expect(slices.count + rig.relay.fanOutRoom(in: rig.target) == 2)
      for slice in slices { rig.step(slice, in: rig.target) }
    }
    #expect(ended == 5 && rig.forwarding.isEmpty)
    #expect(rig.relay.outbox.need == .none)
    #expect(rig.relay.refusal(of: batch) == nil)
  }

  /// While one fan-out runs there is room for one more, and none for a batch of two.
  @Test(arguments: [true, false])
  func `a batch needs room for all of its changes`(inHome: Bool) {
    var rig = rig(inHome: inHome, limits)
    rig.step(.change(change(1)), in: home)
    let batch = (UInt64(2)...3).map { Fact.change(change($0)) }
    #expect(rig.relay.refusal(of: [batch[0]]) == nil)
    #expect(rig.relay.refusal(of: batch) == .fanOuts)
  }

  /// Changes for few users are not counted, however many changes there are.
  @Test func `a change for few users needs no fan-out`() {
    var limits = limits
    limits.fanOutSlice = 100
    let rig = rig(inHome: false, limits)
    let changes = (UInt64(1)...50).map { Fact.change(change($0)) }
    let need = rig.relay.need(of: changes)
    #expect(need.fanOuts.isEmpty && need.messages == 50)
    #expect(rig.relay.refusal(of: changes) == nil)
  }

  /// Limit: limits.forwardedMessages
  @Test(arguments: [(onTheWay: UInt64(1), isRefused: false), (2, false), (3, true)])
  func `forwardedMessages limits the number of messages under way`(
    onTheWay: UInt64, isRefused: Bool
  ) {
    var limits = limits
    (limits.forwardedMessages, limits.fanOuts) = (3, 100)
    var rig = rig(inHome: false, limits)
    for number in 1...onTheWay { rig.step(.change(change(number)), in: home) }
    let next = Fact.change(change(9))
    #expect(rig.relay.need(of: [next]).messages == 1)
    #expect(rig.relay.refusal(of: [next]) == (isRefused ? .forwards : nil))
  }

  /// Limit: limits.forwardedBytes
  @Test(arguments: [(spare: -1, isRefused: true), (0, false), (1, false)])
  func `forwardedBytes limits the bytes of messages under way`(spare: Int, isRefused: Bool) {
    var limits = limits
    limits.fanOuts = 100
    let fact = Fact.change(change(1, bytes: 15_000))
    let bytes = rig(inHome: false, limits).relay.need(of: [fact]).bytes
    #expect(bytes > 15_000)
    limits.forwardedBytes = 2 * bytes + spare
    var rig = rig(inHome: false, limits)
    rig.step(fact, in: home)
    let next = Fact.change(change(2, bytes: 15_000))
    #expect(rig.relay.refusal(of: [next]) == (isRefused ? .forwards : nil))
  }

  /// A large record whose subscribers read one short field has a short message, which counts with
  /// its own size. Earlier, the whole record counted for each partition, and the relay refused a
  /// second large record.
  @Test func `a message counts only the values that it carries`() {
    var limits = limits
    limits.fanOuts = 100
    var rig = rig(inHome: false, limits)
    func large(_ number: UInt64) -> Change {
      var change = change(number)
      guard case .record(var record) = change.event else { return change }
      record.fields.append(
        Field(name: "rest", value: .string(String(repeating: "x", count: 90_000))))
      change.event = .record(record)
      return change
    }
    let need = rig.relay.need(of: [.change(large(1))])
    #expect(need.messages == 1 && need.bytes < 2_000)
    #expect(need.bytes == rig.relay.need(of: [.change(change(1))]).bytes)
    rig.step(.change(large(1)), in: home)
    #expect(rig.relay.outbox.need.bytes == need.bytes)
  }

  /// Messages on their way to other users are bounded in number and in bytes, fan-outs included.
  @Test func `messages and fan-outs under way are bounded in number and in bytes`() {
    var limits = limits
    (limits.forwardedMessages, limits.forwardedBytes, limits.fanOuts) = (3, 20_000, 100)
    var few = rig(inHome: false, limits)
    for number in UInt64(1)...3 { few.step(.change(change(number)), in: home) }
    let small = Fact.change(change(9))
    #expect(few.relay.refusal(of: [small]) == .forwards)
    few.fold()
    few.deliver()
    #expect(few.relay.refusal(of: [small]) == nil)

    var large = rig(inHome: false, limits)
    large.step(.change(change(1, bytes: 15_000)), in: home)
    let next = Fact.change(change(2, bytes: 15_000))
    #expect(large.relay.refusal(of: [next]) == .forwards)
    large.fold()
    large.deliver()
    #expect(large.relay.refusal(of: [next]) == .forwards)
    // A fact that makes no message to other partitions is never refused.
    #expect(large.relay.refusal(of: [.tick]) == nil)
  }

  /// A cut holds the fan-outs that began, moved or ended since the last cut, not the whole queue.
  @Test func `a cut writes only the queue's changes since the last cut`() {
    var limits = limits
    limits.fanOuts = 50
    var rig = rig(inHome: true, limits)
    for number in UInt64(1)...40 { rig.step(.change(change(number)), in: home) }
    let first = rig.relay.cut(at: Sample.start).partitions.first { $0.id == home }
    #expect(first?.fanOuts.count == 40)
    let slices = rig.relay.partition(rig.target).unfinished
    rig.step(slices[0], in: rig.target)
    let second = rig.relay.cut(at: Sample.start).partitions.first { $0.id == home }
    #expect(second?.fanOuts.isEmpty == true && second?.fanOutsMoved.count == 1)
    for _ in 0..<3 {
      for slice in rig.relay.partition(rig.target).unfinished.prefix(1) {
        rig.step(slice, in: rig.target)
      }
    }
    let third = rig.relay.cut(at: Sample.start).partitions.first { $0.id == home }
    #expect(third?.fanOutsEnded.count == 1 && third?.fanOuts.isEmpty == true)
  }
}

extension Relay {
  /// Why the facts are not taken now; `nil` means that there is room.
  fileprivate func refusal(of facts: [Fact]) -> NoRoom? {
    guard case .full(let why) = room(for: facts, besides: .none) else { return nil }
    return why
  }
}
