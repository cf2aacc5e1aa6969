import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct ChangesTests {
  private static let zone = #"{"zoneName":"ReadingList","ownerRecordName":"_abc"}"#

  private func zoneBody(_ token: String? = nil, more: String = "") -> String {
    let sync = token.map { #","syncToken":"\#($0)""# } ?? ""
    return #"{"zones":[{"zoneID":\#(Self.zone)\#(sync)\#(more)}]}"#
  }

  private func item(_ answer: Rig.Answer) throws -> JSONCursor {
    try answer.json.required("zones").elements()[0]
  }

  @Test func `a page of a zone has exactly the documented JSON`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"], client: Rig.phone)
    _ = try await rig.produce(
      "[\(Event(id: "u", type: "zonerelay.record.created", record: "A2").text)]")
    let answer = try await rig.database("changes/zone", zoneBody(), client: Rig.phone)
    let token = try item(answer).required("syncToken").string()
    #expect(
      answer.text == #"{"zones":[{"zoneID":\#(Self.zone),"records":[{"recordName":"A1","#
        + #""recordType":"Article","recordChangeTag":"7","modified":{"timestamp":1795230000000,"#
        + #""deviceID":"\#(Rig.phone)"},"own":true},{"recordName":"A2","recordType":"Article","#
        + #""recordChangeTag":"7","modified":{"timestamp":1795230000000},"own":false}],"#
        + #""syncToken":"\#(token)","moreComing":false}]}"#)
    _ = try await rig.produce("[\(Event(id: "d", type: "zonerelay.record.deleted").text)]")
    let next = try await rig.database("changes/zone", zoneBody(token))
    let record = try item(next).required("records").elements()[0]
    #expect(try record.required("recordName").string() == "A1")
    #expect(record["recordType"]?.isNull == true)
    #expect(try record.required("deleted").boolean())
    #expect(record["modified"] == nil)
  }

  @Test(arguments: [1, 3, 7, 200]) func `pages of any size together hold all records`(limit: Int)
    async throws
  {
    let rig = await Rig()
    try await rig.create((0..<20).map { "R\($0)" })
    var names: [String] = []
    var token: String?
    var pages = 0
    var more = true
    while more {
      let answer = try await rig.database(
        "changes/zone", zoneBody(token, more: #","resultsLimit":\#(limit)"#))
      names += try item(answer).required("records").elements().map {
        try $0.required("recordName").string()
      }
      let next = try item(answer).required("syncToken").string()
      #expect(next != token)
      token = next
      more = try item(answer).required("moreComing").boolean()
      pages += 1
    }
    #expect(names == (0..<20).map { "R\($0)" })
    #expect(pages == (20 + limit - 1) / limit)
  }

  @Test func `several zones are answered in request order, with errors in place`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"], zone: "One")
    try await rig.create(["B1"], zone: "Two")
    let body = #"""
      {"zones":[{"zoneID":{"zoneName":"Two"}},{"zoneID":{"zoneName":"None"}},{"zoneID":7},{},
      {"zoneID":{"zoneName":"One"},"syncToken":"AAAA"},{"zoneID":{"zoneName":"One"},"reverse":true},
      {"zoneID":{"zoneName":"One"},"resultsLimit":0},{"zoneID":{"zoneName":"One"},"syncToken":""},
      {"zoneID":{"zoneName":"One"},"syncToken":null}]}
      """#
    let answer = try await rig.database("changes/zone", body)
    #expect(answer.status == 200)
    #expect(
      try answer.each("zones", "serverErrorCode") == [
        nil, "ZONE_NOT_FOUND", "BAD_REQUEST", "BAD_REQUEST", "BAD_REQUEST", nil,
        "BAD_REQUEST", "BAD_REQUEST", nil,
      ])
    let zones = try answer.json.required("zones").elements()
    #expect(try zones[0].required("zoneID").required("zoneName").string() == "Two")
    #expect(try zones[1].required("zoneID").required("ownerRecordName").string() == "_abc")
    #expect(try zones[4].required("reason").string() == "Invalid continuation format")
  }

  @Test func `a change token is valid for one feed, one user and one relay`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"], zone: "One")
    try await rig.create(["A1"])
    let zone = try item(try await rig.database("changes/zone", zoneBody()))
    let token = try zone.required("syncToken").string()
    let database = try #require(try await rig.database("changes/database").string("syncToken"))
    let other = #"{"zones":[{"zoneID":{"zoneName":"One"},"syncToken":"\#(token)"}]}"#
    let strange = try await rig.database("changes/zone", other)
    #expect(try item(strange).required("reason").string() == "Unknown sync continuation type")
    for (endpoint, text) in [("changes/database", token), ("zones/changes", token)] {
      let key = endpoint == "zones/changes" ? "metaSyncToken" : "syncToken"
      let answer = try await rig.database(endpoint, #"{"\#(key)":"\#(text)"}"#)
      #expect(answer.status == 400)
      #expect(try answer.string("reason") == "Unknown sync continuation type")
    }
    let stolen = try await rig.database(
      "changes/database", #"{"syncToken":"\#(database)"}"#, as: "_def")
    #expect(stolen.status == 400)
    let cut = try await rig.device(
      "notifications/changes", #"{"syncToken":"\#(token.dropLast(8))"}"#)
    #expect(try cut.string("reason") == "Invalid continuation format")
    var bytes = try #require(Base64.bytes(token))
    bytes[bytes.count - 1] ^= 1
    let fake = try await rig.database("changes/zone", zoneBody(Base64.text(bytes)))
    #expect(try item(fake).required("reason").string() == "Unknown sync continuation type")
  }

  @Test func `a page of a database names each changed zone with its token`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"], client: Rig.phone)
    let first = try await rig.database("changes/database", client: Rig.phone)
    #expect(try item(first).required("own").boolean())
    #expect(try item(first).required("zoneID").required("zoneName").string() == "ReadingList")
    let token = try item(first).required("syncToken").string()
    let page = try await rig.database("changes/zone", zoneBody(token))
    #expect(try item(page).required("records").elements().isEmpty)
    let sync = try #require(try first.string("syncToken"))
    for (id, kind, key) in [
      ("1", "purged", "purged"), ("2", "created", nil), ("3", "reset", "reset"),
    ]
      as [(String, String, StaticString?)]
    {
      _ = try await rig.produce(
        "[\(Event(id: id, type: "zonerelay.zone.\(kind)", record: nil).text)]")
      let answer = try await rig.database("changes/database", #"{"syncToken":"\#(sync)"}"#)
      let isGone = try item(answer).optional("deleted")?.boolean() ?? false
      #expect(isGone == (key != nil))
      if let key { #expect(try item(answer).required(key).boolean()) }
      let page = try item(try await rig.database("changes/zone", zoneBody()))
      #expect((page["serverErrorCode"] != nil) == isGone)
    }
  }

  @Test func `the older endpoints give the same answers`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let zones = try await rig.database("zones/changes")
    let new = try await rig.database("changes/database")
    #expect(try zones.string("metaSyncToken") == new.string("syncToken"))
    let records = try await rig.database("records/changes", #"{"zoneID":\#(Self.zone)}"#)
    #expect(try records.json.required("records").elements().count == 1)
    #expect(records.json["zoneID"] == nil)
  }

  @Test func `a participant reads a shared zone until it is withdrawn`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let share = { (id: String, kind: String) in
      Event(id: id, type: "zonerelay.share.\(kind)", record: nil, more: #","participant":"_def""#)
        .text
    }
    _ = try await rig.produce("[\(share("g", "granted"))]")
    let page = try await rig.database("changes/zone", zoneBody(), in: "shared", as: "_def")
    #expect(try item(page).required("records").elements().count == 1)
    let listed = try await rig.database("zones/list", in: "shared", as: "_def")
    #expect(try listed.json.required("zones").elements().count == 1)
    let token = try item(page).required("syncToken").string()
    _ = try await rig.produce("[\(share("r", "revoked"))]")
    let after = try await rig.database("changes/zone", zoneBody(token), in: "shared", as: "_def")
    #expect(try item(after).required("serverErrorCode").string() == "ZONE_NOT_FOUND")
    let gone = try await rig.database("changes/database", in: "shared", as: "_def")
    #expect(try gone.json.required("zones").elements().isEmpty)
  }

  @Test func `a page of notifications has exactly the documented JSON`() async throws {
    let rig = await Rig()
    let subscriptions = #"""
      {"operations":[{"operationType":"create","subscription":{"subscriptionID":"q",
      "subscriptionType":"query","query":{"recordType":"Article"}}},{"operationType":"create",
      "subscription":{"subscriptionID":"d","subscriptionType":"database"}}]}
      """#
    _ = try await rig.database("subscriptions/modify", subscriptions)
    try await rig.create(["A1"], client: Rig.phone)
    let answer = try await rig.device("notifications/changes", client: Rig.tablet)
    let all = try answer.json.required("notifications").elements()
    #expect(try all.map { try $0.required("subscriptionID").string() } == ["q", "d"])
    let id = try all[0].required("notificationID").string()
    let token = try #require(try answer.string("syncToken"))
    #expect(
      answer.text == #"{"notifications":[{"notificationID":"\#(id)","subscriptionID":"q","#
        + #""notificationType":"query","database":"private","zoneID":\#(Self.zone),"#
        + #""recordName":"A1","queryNotificationReason":"created","timestamp":1795230000000,"#
        + #""own":false,"read":false},{"notificationID":"\#(id)","subscriptionID":"d","#
        + #""notificationType":"database","database":"private","zoneID":\#(Self.zone),"#
        + #""timestamp":1795230000000,"own":false,"read":false}],"syncToken":"\#(token)","#
        + #""moreComing":false}"#)
    let own = try await rig.device("notifications/changes", client: Rig.phone)
    #expect(try own.json.required("notifications").elements()[0].required("own").boolean())
  }

  @Test func `only a device with a clientId acknowledges, and only served positions`()
    async throws
  {
    let rig = await Rig()
    try await rig.create(["A1"])
    _ = try await rig.database("changes/zone", zoneBody())
    _ = try await rig.database("changes/zone", zoneBody(), client: "no-uuid")
    #expect(rig.relay.seen.readings.isEmpty)
    let first = try await rig.database("changes/zone", zoneBody(), client: Rig.phone)
    let zone = ZoneID(name: "ReadingList", owner: UserID("_abc"))
    guard case .zone(zone, .private, let head) = rig.relay.seen.readings.last?.reached else {
      Issue.record("nothing was acknowledged")
      return
    }
    #expect(head > .zero)
    let token = try item(first).required("syncToken").string()
    _ = try await rig.database("changes/zone", zoneBody(token), client: Rig.phone)
    #expect(
      rig.relay.seen.readings.suffix(2).map(\.reached) == [
        .zone(zone, .private, head), .zone(zone, .private, head),
      ])
    _ = try await rig.database("changes/database", client: Rig.phone)
    #expect(rig.relay.seen.readings.last?.reached == .listed([zone], .private))
    _ = try await rig.device("notifications/changes", client: Rig.phone)
    #expect(rig.relay.seen.readings.last?.reached == .notifications(.zero))
  }

  @Test func `a user lists zones and looks up zones by name`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let list = try await rig.database("zones/list")
    let token = try item(list).required("syncToken").string()
    #expect(
      list.text == #"{"zones":[{"zoneID":\#(Self.zone),"syncToken":"\#(token)","atomic":true}]}"#)
    let body =
      #"{"zones":[{"zoneName":"None"},\#(Self.zone),{"zoneID":{"zoneName":"_defaultZone"}},{}]}"#
    let looked = try await rig.database("zones/lookup", body)
    #expect(
      try looked.each("zones", "serverErrorCode") == ["ZONE_NOT_FOUND", nil, nil, "BAD_REQUEST"])
    #expect(try looked.each("zones", "syncToken")[1] == token)
    let open = try await rig.database("zones/list", in: "public")
    #expect(try item(open).required("zoneID").required("zoneName").string() == "_defaultZone")
  }

  /// A page holds three zones. The test lists one zone fewer, three zones, and one more.
  @Test(arguments: [2, 3, 4]) func `the relay lists zones in pages`(count: Int) async throws {
    let rig = await Rig()
    let names = (1...count).map { "7:Z\($0)é" }
    for name in names { try await rig.create(["A1"], zone: name) }
    let first = try await rig.database("zones/list", #"{"resultsLimit":3}"#)
    let more = try first.json.optional("moreComing")?.boolean()
    #expect(more == (count > 3 ? true : nil))
    func listed(_ answer: Rig.Answer) throws -> [String] {
      try answer.json.required("zones").elements().map {
        try $0.required("zoneID").required("zoneName").string()
      }
    }
    guard count > 3 else { return #expect(try listed(first) == names) }
    let marker = try first.json.required("continuationMarker").string()
    let rest = try await rig.database("zones/list", #"{"continuationMarker":"\#(marker)"}"#)
    #expect(try listed(first) + listed(rest) == names)
    #expect(rest.json["moreComing"] == nil && rest.json["continuationMarker"] == nil)
    let got = try await rig.send(
      .get,
      "/database/1/\(Rig.container)/development/private/zones/list"
        + "?continuationMarker=\(marker)&ckWebAuthToken=\(try await Rig.token(for: "_abc"))")
    #expect(try listed(got) == listed(rest))
  }

  @Test(arguments: ["", "x", "OTk6YQ", "YTpi"])
  func `an unknown continuation marker is a bad request`(marker: String) async throws {
    let rig = await Rig()
    let answer = try await rig.database("zones/list", #"{"continuationMarker":"\#(marker)"}"#)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.contains("continuationMarker") == true)
  }

  @Test func `a page leaves out record types that the client does not want`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let body = zoneBody(more: #","desiredRecordTypes":["Other"]"#)
    #expect(
      try item(try await rig.database("changes/zone", body)).required("records").elements().isEmpty)
  }
}
