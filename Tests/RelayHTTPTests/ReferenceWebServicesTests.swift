import HTTPTypes
import RelayHTTP
import RelayWire
import Testing

/// One test for each rule of CloudKit's Web Services. Comparators, field types and notification
/// info have tests of their own.
@Suite struct ReferenceWebServicesTests {
  struct Endpoint: CustomTestStringConvertible, Sendable {
    var name: String
    var body: String
    var members: [String]
    var hasGet = false
    var testDescription: String { name }
  }

  static let endpoints: [Endpoint] = [
    Endpoint(name: "subscriptions/list", body: "{}", members: ["subscriptions"], hasGet: true),
    Endpoint(
      name: "subscriptions/lookup", body: #"{"subscriptions":[{"subscriptionID":"s"}]}"#,
      members: ["subscriptions"]),
    Endpoint(
      name: "subscriptions/modify",
      body: #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"s"}}]}"#,
      members: ["subscriptions"]),
    Endpoint(name: "zones/list", body: "{}", members: ["zones"], hasGet: true),
    Endpoint(
      name: "zones/lookup", body: #"{"zones":[{"zoneName":"ReadingList"}]}"#, members: ["zones"]),
    Endpoint(
      name: "changes/database", body: #"{"syncToken":null,"resultsLimit":5}"#,
      members: ["zones", "syncToken", "moreComing"]),
    Endpoint(
      name: "zones/changes", body: #"{"metaSyncToken":null}"#,
      members: ["zones", "metaSyncToken", "moreComing"]),
    Endpoint(
      name: "changes/zone",
      body: #"""
        {"zones":[{"zoneID":{"zoneName":"ReadingList"},"syncToken":null,"resultsLimit":5,
        "reverse":false,"desiredRecordTypes":["Article"]}]}
        """#, members: ["zones"]),
    Endpoint(
      name: "records/changes", body: #"{"zoneID":{"zoneName":"ReadingList"},"resultsLimit":5}"#,
      members: ["records", "syncToken", "moreComing"]),
  ]

  @Test(arguments: endpoints)
  func `each endpoint answers with its members for any content type`(
    endpoint: Endpoint
  ) async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let path = "/database/1/\(Rig.container)/development/private/\(endpoint.name)"
    let token = try await Rig.token(for: "_abc")
    for type in ["application/json", "text/plain", "application/octet-stream"] {
      let answer = try await rig.send(
        .post, path + "?clientId=\(Rig.phone)&ckjsVersion=2.6.4", endpoint.body, bearer: token,
        headers: [.contentType: type])
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.headers[.contentType] == "application/json")
      #expect(try answer.json.members().map(\.key) == endpoint.members)
    }
    let get = try await rig.send(.get, path, bearer: token)
    #expect(get.status == (endpoint.hasGet ? 200 : 405))
  }

  @Test func `the default zone is not atomic and has no token`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let answer = try await rig.database(
      "zones/lookup",
      #"{"zones":[{"zoneName":"_defaultZone"},{"zoneName":"ReadingList","zoneType":"X"}]}"#)
    let zones = try answer.json.required("zones").elements()
    #expect(try zones.map { try $0.required("atomic").boolean() } == [false, true])
    #expect(zones.map { $0["syncToken"] != nil } == [false, true])
  }

  @Test func `zones/lookup repeats the readable parts of a bad item`() async throws {
    let answer = try await Rig().database(
      "zones/lookup",
      #"{"zones":[{"zoneName":"","ownerRecordName":"_abc"},7,{},"#
        + #"{"zoneName":"N","ownerRecordName":3}]}"#)
    #expect(
      try answer.each("zones", "serverErrorCode") == .init(repeating: "BAD_REQUEST", count: 4))
    let zones = try answer.json.required("zones").elements()
    #expect(try zones[0].required("zoneID").required("ownerRecordName").string() == "_abc")
    #expect(zones[1]["zoneID"] == nil)
    #expect(try zones[3].required("zoneID").required("zoneName").string() == "N")
  }

  @Test func `a deleted record in a page has a fixed list of members`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await rig.page().token()
    try await rig.report("d", "record.deleted")
    let page = try await rig.page("ReadingList", #","syncToken":"\#(token)""#)
    let record = try page.required("records").elements()[0]
    #expect(
      try record.members().map(\.key) == [
        "recordName", "recordType", "deleted", "recordChangeTag", "own",
      ])
    #expect(record["recordType"]?.isNull == true)
  }

  @Test func `desiredRecordTypes also leaves out deletions of other types`() async throws {
    let rig = await Rig()
    try await rig.create(["A1", "A2"])
    let token = try await rig.page().token()
    try await rig.report("d", "record.deleted")
    for (types, names) in [(#"["Other"]"#, []), (#"["Article"]"#, ["A1"]), ("null", ["A1"])]
      as [(String, [String])]
    {
      let page = try await rig.page(
        "ReadingList", #","syncToken":"\#(token)","desiredRecordTypes":\#(types)"#)
      #expect(try page.each("records", "recordName") == names)
    }
    let bad = try await rig.page("ReadingList", #","desiredRecordTypes":"Article""#)
    #expect(try bad.required("reason").string().contains("desiredRecordTypes must be an array"))
    let worse = try await rig.page("ReadingList", #","reverse":1"#)
    #expect(try worse.required("reason").string().contains("reverse must be true or false"))
  }

  @Test(arguments: [
    ("null", 200, nil), (#""""#, 400, "metaSyncToken is empty"),
    ("7", 400, "metaSyncToken must be a string, not a number"),
    ("{}", 400, "metaSyncToken must be a string, not an object"),
    (#""?""#, 400, "Invalid continuation format"),
    (#""AAAA""#, 400, "Invalid continuation format"),
  ])
  func `zones/changes validates metaSyncToken and refuses syncToken`(
    value: String, status: Int, reason: String?
  ) async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let answer = try await rig.database("zones/changes", #"{"metaSyncToken":\#(value)}"#)
    #expect(answer.status == status)
    if let reason { #expect(try answer.string("reason")?.hasPrefix(reason) == true) }
    // `zones/changes` refuses `syncToken`, which is the token's name at the newer endpoint. If
    // `zones/changes` ignored the token, the client would start from the beginning.
    let other = try await rig.database("zones/changes", #"{"syncToken":""}"#)
    #expect(other.status == 400)
  }

  @Test func `zones/changes answers an expired token with a new one under both names`() async throws
  {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await rig.database("zones/changes").string("metaSyncToken") ?? ""
    _ = try await rig.send(.post, "/expire-tokens", "{}", control: true)
    let gone = try await rig.database("zones/changes", #"{"metaSyncToken":"\#(token)"}"#)
    #expect(gone.status == 410)
    #expect(try gone.string("metaSyncToken") == gone.string("syncToken"))
    let next = try await rig.database(
      "zones/changes", #"{"metaSyncToken":"\#(try gone.string("metaSyncToken") ?? "")"}"#)
    #expect(next.status == 200)
  }

  @Test func `a request with more than 200 items is refused with advice to split`() async throws {
    let rig = await Rig()
    for (endpoint, key, item) in [
      ("changes/zone", "zones", "{\(Rig.zone())}"), ("zones/lookup", "zones", "{\(Rig.zone())}"),
      ("subscriptions/lookup", "subscriptions", #"{"subscriptionID":"s"}"#),
    ] as [(String, StaticString, String)] {
      for (count, status) in [(200, 200), (201, 400)] {
        let items = Array(repeating: item, count: count).joined(separator: ",")
        let answer = try await rig.database(endpoint, #"{"\#(key)":[\#(items)]}"#)
        #expect(answer.status == status)
        if status == 200 {
          #expect(try answer.json.required(key).elements().count == 200)
        } else {
          #expect(try answer.string("reason")?.contains("split the batch in halves") == true)
        }
      }
    }
  }
}
