import RelayCore
import Testing

/// Payloads that CloudKit was seen to send, one test each, and details that are easy to get wrong.
/// Each test goes from the change to the push; the encoding of single values is in `PayloadTests`.
@Suite struct ReferencePayloadTests {
  private let article = Subscription.Rule.query(QueryRule(recordType: "Article"))
  private let ownDefault = ZoneID(name: ZoneID.defaultName, owner: Sample.owner)

  /// The payload of the push to a device of `Sample.owner`, whose subscription with `rule` fires.
  private func push(
    _ rule: Subscription.Rule, _ database: Database = .private, _ info: NotificationInfo? = nil,
    change: (inout PartitionRig) -> Void
  ) throws -> JSONChecker.Value {
    var rig = PartitionRig()
    rig.register(1)
    var silent = NotificationInfo()
    silent.isContentAvailable = true
    rig.save("S1", rule, database, info ?? silent)
    change(&rig)
    let attempt = try #require(rig.wake().first)
    return try #require(JSONChecker.read(attempt.payload))
  }

  private func publicly(_ fields: [Field] = []) -> (inout PartitionRig) -> Void {
    { rig in
      let record = RecordChange(verb: .created, name: "A1", type: "Article", fields: fields)
      rig.hear(
        .change(rig.make(.record(record), in: .publicDefault, .public), at: Sample.position(1)), 1)
    }
  }

  private func sub(_ dbs: Int, _ zone: ZoneID, fo: Int? = nil) -> [String: JSONChecker.Value] {
    var keys: [String: JSONChecker.Value] = [
      "dbs": .number("\(dbs)"), "sid": .string("S1"), "zid": .string(zone.name),
      "zoid": .string(zone.owner.name),
    ]
    if let fo {
      keys["fo"] = .number("\(fo)")
      keys["rid"] = .string("A1")
    }
    return keys
  }

  private let silent = JSONChecker.Value.object(["content-available": .number("1")])

  // MARK: Captured kinds

  @Test func `a silent public query push has the reference keys`() throws {
    let payload = try push(article, .public, change: publicly())
    #expect(payload["aps"] == silent)
    #expect(payload["ck"]?.keys == ["ce", "cid", "ckuserid", "nid", "qry"])
    #expect(payload["ck"]?["qry"] == .object(sub(2, .publicDefault, fo: 1)))
  }

  @Test func `a silent private query push names the user as the zone's owner`() throws {
    let payload = try push(article) { $0.change(.record(.created), in: ownDefault) }
    #expect(payload["aps"] == silent)
    #expect(payload["ck"]?["qry"] == .object(sub(1, ownDefault, fo: 1)))
    #expect(payload["ck"]?["qry"]?["zoid"] == payload["ck"]?["ckuserid"])
  }

  @Test func `a visible private query push has an alert, a badge and a sound`() throws {
    var info = NotificationInfo()
    info.alert.body = "New Chat"
    info.sound = "default"
    info.badges = true
    let payload = try push(article, .private, info) {
      $0.setBadge(179)
      $0.change(.record(.created), in: ownDefault)
    }
    #expect(
      payload["aps"]
        == .object([
          "alert": .string("New Chat"), "badge": .number("180"), "sound": .string("default"),
        ]))
    #expect(payload["ck"]?["qry"] == .object(sub(1, ownDefault, fo: 1)))
  }

  @Test func `a public query push has only the requested record fields`() throws {
    var info = NotificationInfo()
    info.isContentAvailable = true
    info.desiredKeys = ["title", "body"]
    let payload = try push(
      article, .public, info,
      change: publicly([
        Field(name: "title", value: .string("T")), Field(name: "body", value: .string("B")),
        Field(name: "secret", value: .string("not asked for")),
      ]))
    var keys = sub(2, .publicDefault, fo: 1)
    keys["af"] = .object(["title": .string("T"), "body": .string("B")])
    #expect(payload["ck"]?["qry"] == .object(keys))
  }

  @Test func `a private database push has the reference keys`() throws {
    let payload = try push(.database(recordType: nil)) { $0.change(.record(.updated)) }
    #expect(payload["aps"] == silent)
    #expect(payload["ck"]?.keys == ["ce", "cid", "ckuserid", "nid", "met"])
    #expect(payload["ck"]?["met"] == .object(sub(1, Sample.zone)))
  }

  @Test func `a zone push has the keys that Apple's parser accepts`() throws {
    let payload = try push(.zone(Sample.zone, recordType: nil)) { $0.change(.record(.updated)) }
    #expect(payload["ck"]?.keys == ["ce", "cid", "ckuserid", "nid", "fet"])
    #expect(payload["ck"]?["fet"] == .object(sub(1, Sample.zone)))
  }

  @Test func `a shared database push has the keys that Apple's parser accepts`() throws {
    let zone = ZoneID(name: "Ours", owner: UserID("_other"))
    let payload = try push(.database(recordType: nil), .shared) { rig in
      rig.hear(.change(rig.make(.granted(Sample.owner), in: zone), at: Sample.position(1)), 1)
    }
    #expect(payload["ck"]?["met"] == .object(sub(3, zone)))
    #expect(payload["ck"]?["ckuserid"] == .string(Sample.owner.name))
  }

  // MARK: Easy to get wrong

  @Test(arguments: [(Database.private, 1), (.public, 2), (.shared, 3)])
  func `dbs has the values of the wire format and not of the API enum`(database: Database, dbs: Int)
  {
    #expect(Int(database.rawValue) == dbs)
  }

  @Test func `a push has one sub-dictionary, and sid is inside it`() throws {
    let rules: [(Subscription.Rule, String)] = [
      (article, "qry"), (.zone(Sample.zone, recordType: nil), "fet"),
      (.database(recordType: nil), "met"),
    ]
    for (rule, name) in rules {
      let ck = try push(rule) { $0.change(.record(.updated)) }["ck"]
      #expect(Set(["qry", "fet", "met"]).intersection(ck?.keys ?? []) == [name])
      #expect(ck?["sid"] == nil && ck?[name]?["sid"] == .string("S1"))
    }
  }

  @Test func `fet has zid and zoid, qry has rid, zid and zoid, all as strings`() throws {
    let fet = try push(.zone(Sample.zone, recordType: nil)) { $0.change(.record(.updated)) }
    let qry = try push(article) { $0.change(.record(.updated)) }
    for (value, keys) in [
      (fet["ck"]?["fet"], ["zid", "zoid"]), (qry["ck"]?["qry"], ["rid", "zid", "zoid"]),
    ] {
      for key in keys {
        guard case .string? = value?[key] else {
          Issue.record("\(key) is no string")
          continue
        }
      }
    }
  }

  @Test func `one change that matches two subscriptions has one nid and two sids`() throws {
    var rig = PartitionRig()
    rig.register(1)
    rig.save("S1", article, visible: true)
    rig.save("S2", .zone(Sample.zone, recordType: nil), visible: true)
    rig.change(.record(.created))
    var payloads: [JSONChecker.Value] = []
    for _ in 0..<2 {
      let attempt = try #require(rig.wake().first)
      rig.ended(attempt, .delivered)
      payloads.append(try #require(JSONChecker.read(attempt.payload)))
    }
    #expect(payloads[0]["ck"]?["nid"] == payloads[1]["ck"]?["nid"])
    #expect(payloads[0]["ck"]?["qry"]?["sid"] == .string("S1"))
    #expect(payloads[1]["ck"]?["fet"]?["sid"] == .string("S2"))
  }

  @Test func `zone and database pushes carry no record names`() throws {
    for rule in [Subscription.Rule.zone(Sample.zone, recordType: nil), .database(recordType: nil)] {
      let payload = try push(rule) { $0.change(.record(.updated, "SecretName")) }
      #expect(!"\(payload)".contains("SecretName"))
    }
  }
}

extension JSONChecker.Value {
  var keys: Set<String> {
    guard case .object(let members) = self else { return [] }
    return Set(members.keys)
  }
}

extension PartitionRig {
  mutating func save(
    _ id: String, _ rule: Subscription.Rule, _ database: Database, _ info: NotificationInfo
  ) {
    let subscription = Subscription(
      id: SubscriptionID(id), database: database, rule: rule, info: info)
    step(
      .modify(
        SubscriptionsRequest(
          scope: Sample.scope, user: Sample.owner, database: database,
          operations: [.save(subscription)])))
  }
}
