import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct SubscriptionEndpointTests {
  private func save(_ dictionary: String, type: String = "create") -> String {
    #"{"operations":[{"operationType":"\#(type)","subscription":\#(dictionary)}]}"#
  }

  private static let full = #"""
    {"subscriptionID":"reading","subscriptionType":"query","query":{"recordType":"Article",
    "filterBy":[{"comparator":"EQUALS","fieldName":"state",
    "fieldValue":{"value":"new","type":"STRING"}}]},
    "firesOn":["create","delete"],"firesOnce":true,
    "zoneID":{"zoneName":"ReadingList","ownerRecordName":"_abc"},"zoneWide":false,
    "notificationInfo":{"alertBody":"New","alertLocalizationKey":"K",
    "alertLocalizationArgs":["a","b"],
    "title":"T","titleLocalizationKey":"TK","titleLocalizationArgs":["c"],"subtitle":"S",
    "subtitleLocalizationKey":"SK","subtitleLocalizationArgs":["d"],
    "alertActionLocalizationKey":"A",
    "alertLaunchImage":"I","soundName":"default","category":"C","shouldSendContentAvailable":true,
    "shouldSendMutableContent":true,"additionalFields":["x","y","z"],"collapseIDKey":"list"}}
    """#.split(separator: "\n").joined()

  @Test func `a saved subscription comes back from modify, list and lookup`() async throws {
    let rig = await Rig()
    let saved = try await rig.database("subscriptions/modify", save(Self.full))
    #expect(saved.text == #"{"subscriptions":[\#(Self.full)]}"#)
    #expect(try await rig.database("subscriptions/list").text == saved.text)
    let token = try await Rig.token(for: "_abc")
    let path = "/database/1/\(Rig.container)/development/private/subscriptions/list"
    #expect(try await rig.send(.get, path, bearer: token).text == saved.text)
    let looked = try await rig.database(
      "subscriptions/lookup",
      #"{"subscriptions":[{"subscriptionID":"none"},{"subscriptionID":"reading"},{}]}"#)
    #expect(try looked.each("subscriptions", "subscriptionID") == ["none", "reading", nil])
    #expect(
      try looked.each("subscriptions", "serverErrorCode") == ["NOT_FOUND", nil, "BAD_REQUEST"])
    #expect(
      try await rig.database("subscriptions/list", as: "_def").text == #"{"subscriptions":[]}"#)
    #expect(
      try await rig.database("subscriptions/list", in: "public").text == #"{"subscriptions":[]}"#)
  }

  @Test(arguments: [
    (
      #"{"subscriptionID":"z","subscriptionType":"zone","zoneID":{"zoneName":"Z","#
        + #""ownerRecordName":"_abc"}}"#,
      "private"
    ),
    (
      #"{"subscriptionID":"z","subscriptionType":"zone","zoneID":{"zoneName":"Z","#
        + #""ownerRecordName":"_abc"},"recordType":"T"}"#,
      "private"
    ),
    (#"{"subscriptionID":"d","subscriptionType":"database"}"#, "private"),
    (
      #"{"subscriptionID":"u","subscriptionType":"database","urgent":true,"#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}"#,
      "private"
    ),
    (
      #"{"subscriptionID":"d","subscriptionType":"database","recordType":"T","#
        + #""notificationInfo":{"shouldSendContentAvailable":true}}"#,
      "shared"
    ),
    (
      #"{"subscriptionID":"q","subscriptionType":"query","query":{"recordType":"T","#
        + #""filterBy":[]},"firesOn":["create","update","delete"],"firesOnce":false,"#
        + #""zoneWide":true}"#,
      "public"
    ),
    (
      #"{"subscriptionID":"n","subscriptionType":"query","query":{"recordType":"T","#
        + #""filterBy":[]},"firesOn":["create","update","delete"],"firesOnce":false,"#
        + #""zoneID":{"zoneName":"_defaultZone","ownerRecordName":"_defaultOwner"},"#
        + #""zoneWide":false}"#,
      "public"
    ),
  ])
  func `zone, database and public query subscriptions come back`(
    dictionary: String, database: String
  ) async throws {
    let rig = await Rig()
    let answer = try await rig.database("subscriptions/modify", save(dictionary), in: database)
    #expect(answer.text == #"{"subscriptions":[\#(dictionary)]}"#)
    #expect(try await rig.database("subscriptions/list", in: database).text == answer.text)
  }

  /// A query in a database with only one zone need not name the zone.
  @Test func `zoneWide false in the public database comes back as such`() async throws {
    let query =
      #"{"subscriptionType":"query","subscriptionID":"q","query":{"recordType":"T"},"#
      + #""zoneWide":false}"#
    let answer = try await Rig().database("subscriptions/modify", save(query), in: "public")
    let item = try answer.json.required("subscriptions").elements()[0]
    #expect(try item.required("zoneWide").boolean() == false)
    #expect(try item.required("zoneID").required("zoneName").string() == "_defaultZone")
  }

  static let refused: [(String, String, String)] = [
    (
      #""subscriptionType":"zone","zoneID":{"zoneName":"_defaultZone"}"#, "private",
      "AppDefaultZone does not support sync semantics"
    ),
    (
      #""subscriptionType":"zone","zoneID":{"zoneName":"_defaultZone"}"#, "public",
      "AppDefaultZone does not support sync semantics"
    ),
    (
      #""subscriptionType":"zone","zoneID":{"zoneName":"Z"},"notificationInfo":{"#
        + #""additionalFields":["a"]}"#,
      "private", "cannot add additionalFields to this subscription type"
    ),
    (
      #""subscriptionType":"database","notificationInfo":{"additionalFields":["a"]}"#, "private",
      "cannot add additionalFields to this subscription type"
    ),
    (
      #""subscriptionType":"database","notificationInfo":{"collapseIDKey":"a"}"#, "private",
      "cannot add collapseId to this subscription type"
    ),
    (#""subscriptionType":"database""#, "public", "not supported in the public database"),
    (
      #""subscriptionType":"zone","zoneID":{"zoneName":"Z"}"#, "shared",
      "not supported in the shared database"
    ),
    (
      #""subscriptionType":"query","query":{"recordType":"T"}"#, "shared",
      "not supported in the shared database"
    ),
    (#""subscriptionType":"query""#, "private", "subscription.query is missing"),
    (#""subscriptionType":"query","query":{}"#, "private", "query.recordType is missing"),
    (#""subscriptionType":"other""#, "private", "subscriptionType must be"),
    (#""query":{"recordType":"T"}"#, "private", "subscriptionType is missing"),
    (
      #""subscriptionType":"query","query":{"recordType":"T"},"firesOn":[]"#, "private",
      "must name at least one"
    ),
    (
      #""subscriptionType":"query","query":{"recordType":"T"},"firesOn":["once"]"#, "private",
      "must be \"create\""
    ),
    (
      #""subscriptionType":"query","query":{"recordType":"T"},"notificationInfo":{"#
        + #""additionalFields":["a","b","c","d"]}"#,
      "private", "names more than 3 fields"
    ),
    (
      #""subscriptionType":"query","query":{"recordType":"T"},"notificationInfo":{"soundName":7}"#,
      "private", "soundName must be a string"
    ),
  ]

  @Test(arguments: refused)
  func `a subscription that its type or database forbids is refused in its item`(
    members: String, database: String, reason: String
  ) async throws {
    let rig = await Rig()
    let answer = try await rig.database(
      "subscriptions/modify", save(#"{"subscriptionID":"s",\#(members)}"#), in: database)
    #expect(answer.status == 200)
    #expect(try answer.each("subscriptions", "subscriptionID") == ["s"])
    #expect(try answer.each("subscriptions", "serverErrorCode") == ["BAD_REQUEST"])
    let text = try answer.each("subscriptions", "reason").first ?? nil
    #expect(text?.contains(reason) == true, "\(text ?? "nothing")")
    #expect(rig.relay.seen.facts.isEmpty)
  }

  @Test func `a subscription in another user's zone is answered ZONE_NOT_FOUND`() async throws {
    let rig = await Rig()
    for members in [
      #""subscriptionType":"zone","zoneID":{"zoneName":"Z","ownerRecordName":"_def"}"#,
      #""subscriptionType":"query","query":{"recordType":"T"},"zoneID":{"zoneName":"Z","#
        + #""ownerRecordName":"_def"}"#,
    ] {
      let answer = try await rig.database(
        "subscriptions/modify", save(#"{"subscriptionID":"s",\#(members)}"#))
      #expect(try answer.each("subscriptions", "serverErrorCode") == ["ZONE_NOT_FOUND"])
    }
  }

  @Test func `good and bad operations are answered in order and make one fact`() async throws {
    let rig = await Rig()
    let query = { (id: String, type: String) in
      #"{"operationType":"create","subscription":{"subscriptionID":"\#(id)","#
        + #""subscriptionType":"query","query":{"recordType":"\#(type)"}}}"#
    }
    let operations = [
      query("a", "T"), #"{"operationType":"x","subscription":{"subscriptionID":"b"}}"#,
      query("c", "T"), query("d", "U"), "7", #"{"operationType":"delete","subscription":{}}"#,
      #"{"operationType":"delete","subscription":{"subscriptionID":"d"}}"#,
      #"{"operationType":"delete","subscription":{"subscriptionID":"none"}}"#,
      query("", "T"),
    ]
    let answer = try await rig.database(
      "subscriptions/modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    #expect(answer.status == 200)
    #expect(
      try answer.each("subscriptions", "subscriptionID")
        == ["a", "b", "c", "d", nil, nil, "d", "none", ""])
    #expect(
      try answer.each("subscriptions", "serverErrorCode") == [
        nil, "BAD_REQUEST", "BAD_REQUEST", nil, "BAD_REQUEST", "BAD_REQUEST", nil, "NOT_FOUND",
        "BAD_REQUEST",
      ])
    #expect(
      try answer.each("subscriptions", "reason")[2] == "subscription is duplicate of 'a'")
    #expect(try answer.json["subscriptions"]?.elements()[6].required("deleted").boolean() == true)
    #expect(rig.relay.seen.facts.count == 1)
  }

  @Test func `a missing subscription id is generated, and a repeated save succeeds`() async throws {
    let rig = await Rig()
    let dictionary = #"{"subscriptionType":"query","query":{"recordType":"T"}}"#
    let answer = try await rig.database("subscriptions/modify", save(dictionary))
    let id = try #require(try answer.each("subscriptions", "subscriptionID").first ?? nil)
    #expect(id.count == 36)
    let named = dictionary.replacing(
      "{\"subscriptionType", with: "{\"subscriptionID\":\"\(id)\",\"subscriptionType")
    for type in ["create", "update"] {
      let again = try await rig.database("subscriptions/modify", save(named, type: type))
      #expect(again.text == answer.text)
    }
  }

  @Test func `too many subscriptions or filters and too long texts are refused`() async throws {
    var core = Limits()
    core.subscriptionsPerUser = 1
    let rig = await Rig(core: core)
    let dictionary = #"{"subscriptionType":"database"}"#
    _ = try await rig.database("subscriptions/modify", save(dictionary))
    let query = #"{"subscriptionType":"query","query":{"recordType":"T"}}"#
    let full = try await rig.database("subscriptions/modify", save(query))
    #expect(try full.each("subscriptions", "serverErrorCode") == ["THROTTLED"])
    let filter = #"{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":"b"}}"#
    let filters = Array(repeating: filter, count: 21).joined(separator: ",")
    let long = String(repeating: "x", count: 1_025)
    let wide = filter.replacing(#""b""#, with: "\"\(long)\"")
    for bad in [
      #"{"subscriptionType":"query","query":{"recordType":"T","filterBy":[\#(filters)]}}"#,
      #"{"subscriptionType":"database","notificationInfo":{"alertBody":"\#(long)"}}"#,
      #"{"subscriptionType":"query","query":{"recordType":"T","filterBy":[\#(wide)]}}"#,
    ] {
      let answer = try await rig.database("subscriptions/modify", save(bad))
      let reason = try answer.each("subscriptions", "reason").first ?? nil
      #expect(reason?.contains("has more than") == true, "\(reason ?? "nothing")")
    }
  }
}
