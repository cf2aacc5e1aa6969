import HTTPTypes
import RelayHTTP
import RelayWire
import Testing

/// One test for each way in which CloudKit's clients catch up.
@Suite struct ReferenceCatchUpTests {
  @Test func `a notification fetch returns everything kept, then only new entries`()
    async throws
  {
    let rig = await Rig()
    try await rig.subscribe(
      #""subscriptionID":"q","subscriptionType":"query","query":{"recordType":"Article"}"#)
    try await rig.create(["A1", "A2", "A3"])
    var names: [String?] = []
    var body = #"{"resultsLimit":2}"#
    for isLast in [false, true] {
      let page = try await rig.device("notifications/changes", body)
      names += try page.each("notifications", "recordName")
      #expect(try page.json.required("moreComing").boolean() == !isLast)
      body = #"{"resultsLimit":2,"syncToken":"\#(try page.string("syncToken") ?? "")"}"#
    }
    #expect(names == ["A1", "A2", "A3"])
    let rest = try await rig.device("notifications/changes", body)
    #expect(try rest.each("notifications", "recordName").isEmpty)
    #expect(try rest.json.required("moreComing").boolean() == false)
  }

  @Test(arguments: [
    ("record.created", nil), ("zone.deleted", "deleted"), ("zone.purged", "purged"),
    ("zone.reset", "reset"),
  ])
  func `a database fetch lists changed, deleted, purged and reset zones`(
    kind: String, mark: String?
  ) async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await rig.database("changes/database").string("syncToken") ?? ""
    try await rig.report("x", kind, record: kind == "record.created" ? "A2" : nil)
    let page = try await rig.database("changes/database", #"{"syncToken":"\#(token)"}"#)
    let zones = try page.json.required("zones").elements()
    try #require(zones.count == 1)
    #expect(try zones[0].required("zoneID").required("zoneName").string() == "ReadingList")
    #expect((zones[0]["deleted"] != nil) == (mark != nil))
    #expect((zones[0]["purged"] != nil) == (mark == "purged"))
    #expect((zones[0]["reset"] != nil) == (mark == "reset"))
    #expect((zones[0]["syncToken"] != nil) == (mark == nil))
  }

  @Test func `a zone fetch lists changed and deleted records`() async throws {
    let rig = await Rig()
    try await rig.create(["A1", "A2", "A3"])
    let token = try await rig.page().token()
    try await rig.report("u", "record.updated", record: "A2")
    try await rig.report("d", "record.deleted", record: "A3")
    let page = try await rig.page("ReadingList", #","syncToken":"\#(token)""#)
    let records = try page.required("records").elements()
    #expect(try records.map { try $0.required("recordName").string() } == ["A2", "A3"])
    #expect(try records.map { try $0.optional("deleted")?.boolean() ?? false } == [false, true])
  }

  @Test func `a token serves one feed, may be reused, and is stable when caught up`()
    async throws
  {
    let rig = await Rig()
    try await rig.create(["A1"])
    let zone = try await rig.page().token()
    let database = try await rig.database("changes/database").string("syncToken") ?? ""
    let wrong = try await rig.page("ReadingList", #","syncToken":"\#(database)""#)
    #expect(try wrong.required("reason").string() == "Unknown sync continuation type")
    let other = try await rig.database("changes/database", #"{"syncToken":"\#(zone)"}"#)
    #expect(try other.string("reason") == "Unknown sync continuation type")
    try await rig.report("2", "record.created", record: "A2")
    for _ in 0..<2 {
      let page = try await rig.page("ReadingList", #","syncToken":"\#(zone)""#)
      #expect(try page.each("records", "recordName") == ["A2"])
    }
    let head = try await rig.page().token()
    let rest = try await rig.page("ReadingList", #","syncToken":"\#(head)""#)
    #expect(try rest.required("records").elements().isEmpty)
    #expect(try rest.token() == head)
  }

  @Test func `a record created and deleted between two tokens is left out`()
    async throws
  {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await rig.page().token()
    try await rig.report("2", "record.created", record: "A2")
    try await rig.report("3", "record.deleted", record: "A2")
    try await rig.report("4", "record.updated", record: "A1")
    try await rig.report("5", "record.updated", record: "A1")
    let page = try await rig.page("ReadingList", #","syncToken":"\#(token)""#)
    #expect(try page.each("records", "recordName") == ["A1"])
  }

  @Test func `a fetch with an expired token fails, and one without a token succeeds`() async throws
  {
    let rig = await Rig()
    try await rig.create(["A1"])
    let token = try await rig.page().token()
    _ = try await rig.send(.post, "/expire-tokens", "{}", control: true)
    let expired = try await rig.page("ReadingList", #","syncToken":"\#(token)""#)
    #expect(try expired.required("serverErrorCode").string() == "CHANGE_TOKEN_EXPIRED")
    let fresh = try await rig.page("ReadingList", #","syncToken":null"#)
    #expect(try fresh.each("records", "recordName") == ["A1"])
    let on = try await rig.page("ReadingList", #","syncToken":"\#(try fresh.token())""#)
    #expect(on["serverErrorCode"] == nil)
  }

  @Test(arguments: [1, 2, 5, 200], [false, true])
  func `a client that fetches until moreComing is false gets all records`(
    limit: Int, isReversed: Bool
  ) async throws {
    let rig = await Rig()
    try await rig.create((0..<7).map { "R\($0)" })
    var pages: [[String?]] = []
    var token = "null"
    while true {
      let members = #","syncToken":\#(token),"resultsLimit":\#(limit),"reverse":\#(isReversed)"#
      let page = try await rig.page("ReadingList", members)
      pages.append(try page.each("records", "recordName"))
      let next = #""\#(try page.token())""#
      guard try page.required("moreComing").boolean() else { break }
      #expect(next != token)
      token = next
    }
    // `reverse` turns the order inside a page, but not the order of the pages.
    let inOrder = pages.flatMap { isReversed ? $0.reversed() : $0 }
    #expect(inOrder == (0..<7).map { "R\($0)" })
    #expect(pages.count == (7 + limit - 1) / limit)
  }
}
