import RelayCore
import Testing

/// Payloads as CloudKit makes them: the `ck` keys, the rules of `aps`, and what is dropped first
/// when a payload would be too large; then which changes fire a subscription, and the priority of
/// the push.
@Suite struct ReferenceKeyTests {
  private let user = UserID("_5f0c1e2d3a4b5c6d7e8f90a1b2c3d4e5")

  private func text(
    _ kind: NotificationContent.Kind, _ info: NotificationInfo? = nil, badge: Int? = nil,
    _ environment: Environment = .development
  ) -> WakeText {
    let content = NotificationContent(
      subscription: SubscriptionID("S1"), notification: Identifier(high: 0xabc, low: 0xdef),
      database: .private, zone: ZoneID(name: "Z", owner: user), kind: kind)
    return WakeText(
      scope: Scope(container: "iCloud.com.example.notes", environment: environment), user: user,
      wake: 17, content: content, info: info, subjects: 1, zones: [], hasQuery: false,
      isMore: false,
      badge: badge)
  }

  private func query(
    _ reason: RecordChange.Verb = .created, _ values: [Field] = []
  ) -> NotificationContent.Kind {
    .query(record: "R1", reason: reason, values: values, isCut: false)
  }

  private func read(_ text: WakeText, bytesMax: Int = 4_096) throws -> JSONChecker.Value {
    try #require(JSONChecker.read(PayloadEncoder.encode(text, bytesMax: bytesMax).bytes))
  }

  // MARK: Keys

  @Test(arguments: [(Environment.development, "2"), (.production, "1")])
  func `ce is 2 for development and 1 for production`(environment: Environment, ce: String) throws {
    #expect(try read(text(.zone, nil, environment))["ck"]?["ce"] == .number(ce))
  }

  @Test func `cid names the container and ckuserid names the subscription's owner`() throws {
    let ck = try read(text(.zone))["ck"]
    #expect(ck?["cid"] == .string("iCloud.com.example.notes"))
    #expect(ck?["ckuserid"] == .string(user.name))
  }

  @Test func `nid is a lowercase UUID`() throws {
    let nid = try read(text(.zone))["ck"]?["nid"]
    #expect(nid == .string("00000000-0000-0abc-0000-000000000def"))
  }

  @Test func `p is 1 in a pruned payload and absent otherwise`() throws {
    #expect(try read(text(query()))["ck"]?["p"] == nil)
    #expect(try read(text(query()), bytesMax: 200)["ck"]?["p"] == .number("1"))
  }

  @Test(arguments: [(RecordChange.Verb.created, "1"), (.updated, "2"), (.deleted, "3")])
  func `qry.fo is 1 for created, 2 for updated and 3 for deleted`(
    verb: RecordChange.Verb, fo: String
  ) throws {
    #expect(try read(text(query(verb)))["ck"]?["qry"]?["fo"] == .number(fo))
  }

  @Test func `qry.af keeps strings and encodes other types in the relay's form`() throws {
    let values = [
      Field(name: "text", value: .string("é")), Field(name: "number", value: .int64(7)),
      Field(name: "date", value: .timestamp(Instant(milliseconds: 1_000))),
      Field(name: "place", value: .location(latitude: 1.5, longitude: -2)),
      Field(name: "other", value: .reference(recordName: "R2", zone: nil)),
    ]
    #expect(
      try read(text(query(.updated, values)))["ck"]?["qry"]?["af"]
        == .object([
          "text": .string("é"), "number": .number("7"), "date": .number("1000"),
          "place": .array([.number("1.5"), .number("-2.0")]), "other": .string("R2"),
        ]))
  }

  @Test func `the relay's own keys stand beside ck and not inside it`() throws {
    let payload = try read(text(query()))
    #expect(payload.keys == ["aps", "ck", "zr"])
    #expect(payload["ck"]?.keys == ["ce", "cid", "ckuserid", "nid", "qry"])
  }

  // MARK: aps

  /// Each field of the notification info with the `aps` dictionary that the field makes: a name,
  /// the change of the info, and the expected JSON.
  private static let rules: [(String, @Sendable (inout NotificationInfo) -> Void, String)] = [
    ("a body alone = bare string", { $0.alert.body = "B" }, #"{"alert":"B"}"#),
    (
      "with a title = dictionary",
      {
        $0.alert.body = "B"
        $0.alert.title = "T"
      }, #"{"alert":{"title":"T","body":"B"}}"#
    ),
    ("subtitle", { $0.alert.subtitle = "S" }, #"{"alert":{"subtitle":"S"}}"#),
    (
      "loc-key, loc-args",
      {
        $0.alert.bodyKey = "K"
        $0.alert.bodyArguments = ["a"]
      }, #"{"alert":{"loc-key":"K","loc-args":["a"]}}"#
    ),
    (
      "title-loc-key, title-loc-args",
      {
        $0.alert.titleKey = "K"
        $0.alert.titleArguments = ["a"]
      }, #"{"alert":{"title-loc-key":"K","title-loc-args":["a"]}}"#
    ),
    (
      "subtitle-loc-key, subtitle-loc-args",
      {
        $0.alert.subtitleKey = "K"
        $0.alert.subtitleArguments = ["a"]
      }, #"{"alert":{"subtitle-loc-key":"K","subtitle-loc-args":["a"]}}"#
    ),
    (
      "action-loc-key",
      {
        $0.alert.body = "B"
        $0.alert.actionKey = "A"
      }, #"{"alert":{"body":"B","action-loc-key":"A"}}"#
    ),
    (
      "launch-image",
      {
        $0.alert.body = "B"
        $0.alert.launchImage = "I"
      }, #"{"alert":{"body":"B","launch-image":"I"}}"#
    ),
    ("sound", { $0.sound = "S" }, #"{"sound":"S"}"#),
    (
      "category",
      {
        $0.alert.body = "B"
        $0.category = "C"
      }, #"{"alert":"B","category":"C"}"#
    ),
    (
      "mutable-content",
      {
        $0.alert.body = "B"
        $0.isMutable = true
      }, #"{"alert":"B","mutable-content":1}"#
    ),
    (
      "both: shown, and the app is woken",
      {
        $0.alert.body = "B"
        $0.isContentAvailable = true
      }, #"{"alert":"B","content-available":1}"#
    ),
  ]

  @Test(arguments: rules.indices)
  func `aps contains what each notification setting asks for`(row: Int) throws {
    let (name, build, expected) = Self.rules[row]
    var info = NotificationInfo()
    build(&info)
    let aps = try #require(JSONChecker.read([UInt8](expected.utf8)))
    #expect(try read(text(query(), info))["aps"] == aps, "\(name)")
  }

  @Test func `a silent push has only content-available, and a badge is an aps key`()
    throws
  {
    #expect(try read(text(query()))["aps"] == .object(["content-available": .number("1")]))
    var info = NotificationInfo()
    info.badges = true
    #expect(try read(text(query(), info, badge: 3))["aps"] == .object(["badge": .number("3")]))
  }

  // MARK: Pruning

  /// At any size limit the dropped parts are the first of the list, and all later parts are there.
  @Test func `parts are pruned in the documented order and sid is never pruned`() throws {
    var info = NotificationInfo()
    info.alert.body = "body"
    info.alert.bodyKey = "key"
    info.alert.bodyArguments = ["argument"]
    info.alert.actionKey = "action"
    info.alert.launchImage = "image"
    info.sound = "sound"
    info.badges = true
    // The body is shortened in its turn and never dropped, so that the alert shows something.
    let full = text(query(.created, [Field(name: "f", value: .string("v"))]), info, badge: 3)
    var seen: Set<Int> = []
    for room in 180...700 {
      let payload = try read(full, bytesMax: room)
      let (aps, ck) = (payload["aps"], payload["ck"])
      let isThere = [
        ck?["cid"] != nil, ck?["qry"]?["rid"] != nil, aps?["sound"] != nil,
        aps?["alert"]?["launch-image"] != nil, aps?["alert"]?["action-loc-key"] != nil,
        aps?["alert"]?["loc-args"] != nil,
        aps?["alert"]?["loc-key"] != nil, aps?["badge"] != nil, ck?["nid"] != nil,
      ]
      let gone = isThere.count { !$0 }
      seen.insert(gone)
      #expect(isThere.prefix(gone).allSatisfy { !$0 } && isThere.dropFirst(gone).allSatisfy { $0 })
      #expect((ck?["qry"]?["fo"] == nil) == (gone > 1) && (ck?["qry"]?["af"] == nil) == (gone > 1))
      #expect(ck?["qry"]?["sid"] == .string("S1"))
      #expect((ck?["p"] != nil) == (gone > 0))
    }
    #expect(seen == Set(0...9))
  }

  // MARK: Firing and priority

  @Test(arguments: 0..<8, [RecordChange.Verb.created, .updated, .deleted])
  func `the firing bits are 1 for creation, 2 for update and 4 for deletion`(
    bits: Int, verb: RecordChange.Verb
  ) {
    let rule = QueryRule(
      recordType: "Article", firesOn: QueryRule.Firing(rawValue: UInt8(bits)))
    let subscription = Subscription(
      id: SubscriptionID("S1"), database: .private, rule: .query(rule), info: NotificationInfo())
    var rig = PartitionRig()
    let bit = [.created: 1, .updated: 2, .deleted: 4][verb] ?? 0
    #expect(subscription.fires(for: rig.make(.record(verb))) == (bits & bit != 0))
  }

  @Test func `a query subscription fires on all three kinds of change by default`() {
    #expect(QueryRule(recordType: "Article").firesOn.rawValue == 7)
  }

  @Test(arguments: [false, true], [false, true])
  func `a push is an alert push if it has an alert, a badge or a sound`(
    isVisible: Bool, isContentAvailable: Bool
  ) throws {
    for part in 0..<(isVisible ? 3 : 1) {
      var info = NotificationInfo()
      info.isContentAvailable = isContentAvailable
      if isVisible {
        if part == 0 { info.alert.body = "B" }
        if part == 1 { info.badges = true }
        if part == 2 { info.sound = "S" }
      }
      var rig = PartitionRig()
      rig.register(1)
      rig.save("S1", .query(QueryRule(recordType: "Article")), info)
      rig.change(.record(.created))
      let attempt = try #require(rig.wake().first)
      #expect(attempt.intent == (isVisible ? .alert : .background))
      let isWoken = attempt.text.contains("content-available")
      #expect(isWoken == (isContentAvailable || !isVisible))
    }
  }

  @Test func `one change for three subscriptions makes three entries with one nid`() {
    var rig = PartitionRig()
    let rule = Subscription.Rule.query(QueryRule(recordType: "Article"))
    rig.save("q", rule)
    rig.save("z", .zone(Sample.zone, recordType: nil))
    rig.save("d", .database(recordType: nil))
    rig.change(.record(.created))
    let deltas = rig.fold().feed(.notifications(Sample.owner))?.deltas ?? []
    let nids = deltas.compactMap { delta -> Identifier? in
      guard case .notification(let detail) = delta.delta.last.detail else { return nil }
      return detail.notification
    }
    #expect(deltas.count == 3 && nids.count == 3 && Set(nids).count == 1)
    #expect(Set(deltas.map { $0.delta.last.position }).count == 3)
  }
}
