import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

@Suite struct RegistrationTests {
  private static let browser = #"""
    {"endpoint":"https://push.example/1","expirationTime":null,
     "keys":{"p256dh":"BCVx","auth":"BTBZ"}}
    """#

  @Test(arguments: [
    (
      PushAddress.apns(Data([0x0f, 0xa0, 1]), topic: "com.example.notes", sandbox: true),
      ["apnsEnvironment": "development", "apnsToken": "0fa001", "apnsTopic": "com.example.notes"]
    ),
    (
      .apns(Data([255]), topic: nil, sandbox: false),
      ["apnsEnvironment": "production", "apnsToken": "ff"]
    ),
    (.fcm("dGVz:APA91b"), ["transport": "fcm", "token": "dGVz:APA91b"]),
    (.webPush(Data(browser.utf8)), ["transport": "webpush"]),
    (.courier, ["apnsEnvironment": "development"]),
  ])
  func `an address is registered in the relay's words`(
    address: PushAddress, members: [String: String]
  ) async throws {
    let rig = try Rig()
    try await rig.client.register(address)
    let request = try #require(await rig.relay.requests.last)
    let path = address == .courier ? "tokens/create" : "tokens/register"
    #expect(request.url.path.hasSuffix(path))
    let body = try #require(request.body)
    var json = try #require(try JSONSerialization.jsonObject(with: body) as? [String: Any])
    #expect(json.removeValue(forKey: "clientId") as? String == rig.client.installation.name)
    let subscription = json.removeValue(forKey: "subscription") as? [String: Any]
    #expect(json as? [String: String] == members)
    guard case .webPush = address else { return }
    #expect(subscription?["endpoint"] as? String == "https://push.example/1")
    #expect(
      subscription?["keys"] as? [String: String] == ["p256dh": "BCVx", "auth": "BTBZ"])
  }

  @Test func `JSON that is no browser's subscription is refused before any request`() async throws {
    let rig = try Rig()
    let error = await #expect(throws: RelayError.self) {
      try await rig.client.register(.webPush(Data("{}".utf8)))
    }
    #expect(error?.code == .refused)
    #expect(await rig.relay.requests.isEmpty)
  }

  @Test func `five hundred subscriptions go in three requests, with a result for each`()
    async throws
  {
    let rig = try Rig()
    let subscriptions = (0..<500).map { number in
      let filters: [RecordQuery.Filter] =
        number == 300 ? [.init(.field("state"), .equals, .string("new"))] : []
      return Subscription.query(
        "s\(number)", in: .private, RecordQuery(recordType: "Note", filters: filters))
    }
    let results = try await rig.client.prepare(subscriptions)
    #expect(results.map(\.id) == subscriptions.map(\.id))
    #expect(results.filter { $0.error != nil }.map(\.id) == ["s300"])
    #expect(await rig.requests(to: "subscriptions/modify") == 3)
  }

  @Test func `results keep their order over several databases`() async throws {
    let rig = try Rig()
    let results = try await rig.client.prepare([
      .database("shared", .shared), .zone("zone", Rig.notes),
      .query("public", in: .public, RecordQuery(recordType: "News")),
    ])
    #expect(results.map(\.id) == ["shared", "zone", "public"])
    #expect(results.allSatisfy { $0.error == nil })
    let removed = try await rig.client.remove(["zone", "unknown"], in: .private)
    #expect(removed.allSatisfy { $0.error == nil })
  }

  @Test(arguments: ["__defaultOwner__", "_defaultOwner"])
  func `a subscription to CloudKit's name for the signed-in user is to the user's zone`(
    owner: String
  ) async throws {
    let rig = try Rig()
    try await rig.client.register(.courier)
    let zone = ZoneID(name: Rig.notes.name, owner: owner)
    let results = try await rig.client.prepare([.zone("notes", zone)])
    #expect(results.map(\.error) == [nil])
    await rig.relay.save(TestRecord("a"), in: Rig.notes)
    let wake = try #require(await rig.relay.nextWake(for: rig.client.installation))
    #expect(wake.zones.map(\.id) == [Rig.notes])
  }

  @Test(arguments: [
    FieldValue.double(.infinity), .location(latitude: .nan, longitude: 0),
    .timestamp(Date(timeIntervalSince1970: .infinity)),
  ])
  func `a value that JSON cannot hold is refused without a request, and nothing waits`(
    value: FieldValue
  ) async throws {
    let rig = try Rig()
    let query = RecordQuery(recordType: "A", filters: [.init(.field("x"), .equals, value)])
    let error = await #expect(throws: RelayError.self) {
      _ = try await rig.client.prepare([.query("q", in: .public, query)])
    }
    #expect(error?.code == .refused)
    let start = "public/subscriptions/modify: the question cannot be written: "
    #expect(error?.message.hasPrefix(start) == true)
    #expect(await rig.relay.requests.isEmpty)
    _ = try await rig.client.prepare([.database("all", .private)])
    #expect(rig.clock.sleeps.isEmpty)
  }

  @Test func `a subscription is written in the relay's words`() throws {
    let query = RecordQuery(
      recordType: "Note",
      filters: [
        .init(.field("state"), .in, .list([.string("new"), .string("hot")])),
        .init(
          .systemField("modifiedTimestamp"), .greaterThan,
          .timestamp(
            Date(timeIntervalSince1970: 1.5))),
        .init(.field("place"), .near, .location(latitude: 1, longitude: 2), distance: 10),
        .init(.wholeRecord, .containsAnyTokens, .string("swift")),
        .init(.field("n"), .lessThan, .int64(5)), .init(.field("d"), .equals, .double(0.5)),
        .init(.field("b"), .equals, .bytes(Data([1]))),
        .init(.field("r"), .equals, .reference("A1", zone: Rig.notes)),
        .init(.field("l"), .equals, .list([])),
      ], firesOn: [.create, .delete], firesOnce: true, zone: Rig.notes)
    let subscription = Subscription.query(
      "q", in: .private, query,
      notification: .alert("Hello", title: "T", sound: "default").withBadge()
        .with(category: "c", mutableContent: true),
      additionalFields: ["title"], collapseIDKey: "k", isUrgent: true)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let json = try encoder.encode(
      SubscriptionsQuestion([
        SubscriptionChange(id: "q", database: .private, saved: subscription)
      ]))
    let zone = #"{"ownerRecordName":"_alice","zoneName":"Notes"}"#
    func filter(_ comparator: String, _ value: String, _ more: String = "", system: String = "")
      -> String
    {
      #"{"comparator":"\#(comparator)",\#(more)"fieldValue":{\#(value)}\#(system)}"#
    }
    let filters = [
      filter("IN", #""type":"STRING_LIST","value":["new","hot"]"#, #""fieldName":"state","#),
      filter(
        "GREATER_THAN", #""type":"TIMESTAMP","value":1500"#,
        system: #","systemFieldName":"modifiedTimestamp""#),
      filter(
        "NEAR", #""type":"LOCATION","value":{"latitude":1,"longitude":2}"#,
        #""distance":10,"fieldName":"place","#),
      filter("CONTAINS_ANY_TOKENS", #""type":"STRING","value":"swift""#),
      filter("LESS_THAN", #""type":"INT64","value":5"#, #""fieldName":"n","#),
      filter("EQUALS", #""type":"DOUBLE","value":0.5"#, #""fieldName":"d","#),
      filter("EQUALS", #""type":"BYTES","value":"AQ==""#, #""fieldName":"b","#),
      filter(
        "EQUALS", #""type":"REFERENCE","value":{"recordName":"A1","zoneID":\#(zone)}"#,
        #""fieldName":"r","#),
      filter("EQUALS", #""value":[]"#, #""fieldName":"l","#),
    ].joined(separator: ",")
    let expected =
      #"{"operations":[{"operationType":"update","subscription":{"firesOn":["create","delete"],"#
      + #""firesOnce":true,"notificationInfo":{"additionalFields":["title"],"alertBody":"Hello","#
      + #""category":"c","collapseIDKey":"k","shouldBadge":true,"shouldSendContentAvailable":true,"#
      + #""shouldSendMutableContent":true,"soundName":"default","title":"T"},"query":{"filterBy":"#
      + #"[\#(filters)],"recordType":"Note"},"subscriptionID":"q","subscriptionType":"query","#
      + #""urgent":true,"zoneID":\#(zone)}}]}"#
    #expect(String(decoding: json, as: UTF8.self) == expected)
  }

  @Test func `a localized alert has its keys and fields`() throws {
    let info = NotificationInfo.alert(
      .init("BODY", fields: ["title"]), title: .init("TITLE"), runsApp: false)
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = String(decoding: try encoder.encode(info), as: UTF8.self)
    #expect(
      json
        == #"{"alertLocalizationArgs":["title"],"alertLocalizationKey":"BODY","#
        + #""shouldSendContentAvailable":false,"titleLocalizationArgs":[],"#
        + #""titleLocalizationKey":"TITLE"}"#)
  }

  @Test(arguments: [
    ("https://relay.example.com", "https://relay.example.com/device/1/c/development/tokens/create"),
    (
      "https://example.com/relay/", "https://example.com/relay/device/1/c/development/tokens/create"
    ),
  ])
  func `an endpoint stands below the relay's address`(base: String, expected: String) throws {
    let relay = RelayAddress(
      url: try #require(URL(string: base)), container: "c", environment: .development,
      apiToken: "a+b c")
    let installation = UUID()
    let url = relay.endpoint(.device, "tokens/create", installation: installation)
    #expect(
      url.absoluteString
        == "\(expected)?clientId=\(installation.name)&ckAPIToken=a%2Bb%20c")
  }
}
