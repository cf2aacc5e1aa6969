import RelayCore
import Testing

/// A subscription's notification info, from the match to the payload.
@Suite struct NotificationInfoTests {
  private func info(_ build: (inout NotificationInfo) -> Void) -> NotificationInfo {
    var info = NotificationInfo()
    build(&info)
    return info
  }

  private func record(_ fields: [Field] = [], _ verb: RecordChange.Verb = .created) -> Change.Event
  {
    .record(RecordChange(verb: verb, name: "A1", type: "Article", fields: fields))
  }

  private let once = Subscription.Rule.query(QueryRule(recordType: "Article", firesOnce: true))
  private let always = Subscription.Rule.query(QueryRule(recordType: "Article"))

  // MARK: firesOnce

  @Test func `a subscription that fires once is removed with its notification's fold`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("once", once, visible: true)
    rig.change(record())
    rig.change(.record(.created, "A2"))
    let cut = rig.fold()
    #expect(cut.feed(.notifications(Sample.owner))?.deltas.count == 1)
    #expect(cut.subscriptionsRemoved.map(\.id.name) == ["once"])
    // The alert is shown although its subscription is gone. Only the alert still holds the
    // subscription's notification info.
    let pushes = rig.wake()
    #expect(pushes.count == 1)
    #expect(pushes[0].text.contains(#""aps":{"alert":"Hello"}"#))
    #expect(pushes[0].text.contains(#""rid":"A1""#))
    #expect(rig.partition.ledger.isBalanced)
  }

  @Test func `a subscription that fires once fires again after it is saved again`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("once", once)
    rig.change(record())
    rig.save("once", once)
    rig.change(.record(.updated, "A2"))
    let feed = rig.fold().feed(.notifications(Sample.owner))
    #expect(
      feed?.deltas.map(\.subject)
        == ["A1", "A2"].map {
          .notification(SubscriptionID("once"), zone: Sample.zone, record: $0)
        })
  }

  @Test func `a restart does not bring back a subscription that fired once`() {
    var rig = PartitionRig()
    rig.save("once", once)
    rig.change(record())
    let cut = rig.fold()
    #expect(cut.subscriptions.isEmpty && cut.subscriptionsRemoved.count == 1)
    var copy = PartitionRig()
    for item in rig.journal { copy.step(item.fact) }
    #expect(copy.fold() == cut)
  }

  @Test func `a public subscription that fires once tells each user of one change`() {
    var rig = PartitionRig(ZoneID.publicDefault.owner, limits: sliced)
    let subscribers = users(5, inHomeOf: ZoneID.publicDefault.owner, true)
    for user in subscribers { rig.save("once", once, .public, of: user) }
    for name in ["A1", "A2"] {
      rig.change(.record(.created, name), in: .publicDefault, .public)
      while case .journal(_, let slice)? = rig.last.first(where: { $0.isJournal }) {
        rig.step(slice)
      }
    }
    let cut = rig.fold()
    for user in subscribers { #expect(cut.feed(.notifications(user))?.deltas.count == 1) }
    #expect(cut.subscriptionsRemoved.count == 5)
  }

  private var sliced: Limits {
    var limits = Limits()
    limits.fanOutSlice = 2
    return limits
  }

  // MARK: Localisation arguments

  @Test func `alert arguments are the values of the fields that they name`() {
    var rig = PartitionRig()
    rig.register(1)
    let look = info {
      $0.alert.bodyKey = "NEW_%@_%@_%@"
      $0.alert.bodyArguments = ["title", "none", "count"]
      $0.alert.titleKey = "T"
      $0.alert.titleArguments = ["title"]
    }
    rig.save("s", always, look)
    let long = String(repeating: "å", count: 150)
    rig.change(
      record([
        Field(name: "title", value: .string(long)), Field(name: "count", value: .int64(7)),
      ]))
    let cut = String(repeating: "å", count: 100)
    let push = rig.wake()[0].text
    #expect(push.contains(#""loc-key":"NEW_%@_%@_%@","loc-args":["\#(cut)","","7"]"#))
    #expect(push.contains(#""title-loc-args":["\#(cut)"]"#))
  }

  @Test func `alert arguments stay within the limit of value bytes`() {
    var limits = Limits()
    limits.valueBytesPerNotification = 8
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    let look = info {
      $0.alert.bodyKey = "K"
      $0.alert.bodyArguments = ["a", "b"]
    }
    rig.save("s", always, look)
    rig.change(
      record([
        Field(name: "a", value: .string("123456789")), Field(name: "b", value: .string("12345678")),
      ]))
    let push = rig.wake()[0].text
    #expect(push.contains(#""loc-args":["","12345678"]"#) && push.contains(#""p":1"#))
  }

  @Test func `alert arguments and desired keys share the limit of value bytes`() {
    var limits = Limits()
    limits.valueBytesPerNotification = 12
    var rig = PartitionRig(limits: limits)
    rig.register(1)
    let look = info {
      $0.alert.bodyKey = "K"
      $0.alert.bodyArguments = ["a"]
      $0.desiredKeys = ["a"]
    }
    rig.save("s", always, look)
    rig.change(record([Field(name: "a", value: .string("12345"))]))
    let push = rig.wake()[0].text
    #expect(push.contains(#""loc-args":[""]"#) && push.contains(#""af":{"a":"12345"}"#))
    #expect(push.contains(#""p":1"#))
  }

  // MARK: Badges

  @Test func `each notification raises the badge and a repeated attempt does not`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("s", always, info { $0.badges = true })
    rig.change(record())
    rig.change(.record(.created, "A2"))
    #expect(
      rig.fold().badges == [
        BadgeRow(scope: Sample.scope, user: Sample.owner, topic: Sample.topic, count: 2)
      ])
    let first = rig.wake()
    #expect(first.map { $0.text.contains(#""aps":{"badge":2}"#) } == [true])
    rig.ended(first[0], .later(after: nil, .device, Verdict.Reason("busy")))
    #expect(rig.wake(after: 10).first?.text.contains(#""badge":2"#) == true)
  }

  @Test func `notifications count on from the badge that the app sets`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("s", always, info { $0.badges = true })
    rig.change(record())
    rig.setBadge(0)
    #expect(rig.fold().badges.map(\.count) == [0])
    rig.setBadge(41, topic: Sample.topic)
    rig.setBadge(7, topic: "com.example.other")
    rig.change(.record(.created, "A2"))
    #expect(rig.fold().badges.map(\.count) == [42])
  }

  @Test func `the badge is kept after a restart and removed with the user`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("s", always, info { $0.badges = true })
    rig.change(record())
    let cut = rig.fold()
    var tables = PartitionTables(id: cut.id, cursor: cut.cursor)
    tables.subscriptions = cut.subscriptions
    tables.devices = cut.devices
    tables.badges = cut.badges
    rig.partition = Partition(tables, limits: Limits(), policy: WakePolicy())
    rig.change(.record(.created, "A2"))
    #expect(rig.fold().badges.map(\.count) == [2])
    rig.step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private,
          operations: [.delete(SubscriptionID("s"))])))
    rig.step(
      .unregister(
        Unregistration(
          scope: Sample.scope, user: Sample.owner, device: .client(Sample.client(1)))))
    #expect(rig.fold().badges.map(\.count) == [0])
  }

  // MARK: The end of a zone

  @Test func `a zone's deletion is shown by the subscription that it ends`() {
    var rig = PartitionRig()
    rig.register(1)
    rig.change(.zone(.created))
    rig.save("z", .zone(Sample.zone, recordType: nil), visible: true)
    rig.change(.zone(.deleted))
    #expect(rig.fold().subscriptionsRemoved.map(\.id.name) == ["z"])
    let pushes = rig.wake()
    #expect(pushes.map { $0.text.contains(#""alert":"Hello""#) } == [true])
    rig.ended(pushes[0], .delivered)
    #expect(rig.wake().isEmpty && rig.partition.ledger.isBalanced)
  }
}

extension Effect {
  var isJournal: Bool { if case .journal = self { true } else { false } }
}

extension PartitionRig {
  mutating func save(_ id: String, _ rule: Subscription.Rule, _ info: NotificationInfo) {
    let subscription = Subscription(
      id: SubscriptionID(id), database: .private, rule: rule, info: info)
    step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: .private,
          operations: [.save(subscription)])))
  }

  mutating func setBadge(_ badge: Int, topic: String? = nil) {
    step(
      .setBadge(
        BadgeRequest(scope: Sample.scope, user: Sample.owner, topic: topic, badge: badge)))
  }
}
