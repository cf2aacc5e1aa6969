import HTTPTypes
import RelayHTTP
import RelayWire
import Testing

/// Rules of CloudKit that are easy to get wrong. Four more such rules concern payloads, and
/// `ReferencePayloadTests` and RelayPushTests test these four.
@Suite struct ReferencePitfallTests {
  @Test func `one change that matches N subscriptions makes N notifications of one nid`()
    async throws
  {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"z","subscriptionType":"zone",\#(Rig.zone())"#)
    try await rig.subscribe(#""subscriptionID":"d","subscriptionType":"database""#)
    try await rig.subscribe(
      #""subscriptionID":"q","subscriptionType":"query","query":{"recordType":"Article"}"#)
    try await rig.report("1", "record.created")
    let answer = try await rig.device("notifications/changes")
    #expect(Set(try answer.each("notifications", "notificationID")).count == 1)
    #expect(Set(try answer.each("notifications", "subscriptionID")) == ["z", "d", "q"])
  }

  @Test func `zone and database notifications carry no record names`() async throws {
    let rig = await Rig()
    try await rig.subscribe(#""subscriptionID":"z","subscriptionType":"zone",\#(Rig.zone())"#)
    try await rig.subscribe(#""subscriptionID":"d","subscriptionType":"database""#)
    try await rig.report("1", "record.created")
    let answer = try await rig.device("notifications/changes")
    #expect(try answer.each("notifications", "recordName") == [nil, nil])
    #expect(try answer.each("notifications", "queryNotificationReason") == [nil, nil])
  }

  @Test(arguments: ["register", "create", "unregister", "list"])
  func `token endpoints exist only under the device path`(operation: String) async throws {
    let rig = await Rig()
    for place in ["private/tokens", "tokens"] {
      let answer = try await rig.ask(
        "/database/1/\(Rig.container)/development/\(place)/\(operation)")
      #expect(answer.status == 404)
      #expect(try answer.string("serverErrorCode") == "NOT_FOUND")
    }
  }

  @Test func `a courier poll needs no header, and a client may poll again after it`() async throws {
    let rig = await Rig()
    let registered = try await rig.device(
      "tokens/register", #"{"apnsEnvironment":"development","apnsToken":"ab"}"#)
    let url = try #require(try registered.string("webcourierURL"))
    let path = url.replacing("https://relay.example.com", with: "")
    for _ in 0..<2 {
      let answer = try await rig.send(.get, path)
      #expect(answer.status == 200)
      #expect(answer.text.isEmpty)
    }
  }

  @Test func `an item's failure is in a 200 answer, a request's is in the status`() async throws {
    let rig = await Rig()
    try await rig.create(["A1"])
    for (endpoint, body, list) in [
      ("changes/zone", #"{"zones":[{\#(Rig.zone("None"))},{\#(Rig.zone())}]}"#, "zones"),
      ("zones/lookup", #"{"zones":[{\#(Rig.zone("None"))},{\#(Rig.zone())}]}"#, "zones"),
    ] as [(String, String, StaticString)] {
      let answer = try await rig.database(endpoint, body)
      #expect(answer.status == 200)
      #expect(try answer.each(list, "serverErrorCode") == ["ZONE_NOT_FOUND", nil])
    }
    #expect(try await rig.database("changes/zone", #"{"zones":7}"#).status == 400)
  }

  @Test func `an empty page may have moreComing set`() async throws {
    let rig = await Rig()
    try await rig.create(["A1", "A2"])
    let wanted = #","resultsLimit":1,"desiredRecordTypes":["Other"]"#
    let page = try await rig.page("ReadingList", wanted)
    #expect(try page.required("records").elements().isEmpty)
    #expect(try page.required("moreComing").boolean())
    let next = try await rig.page("ReadingList", wanted + #","syncToken":"\#(try page.token())""#)
    #expect(try next.required("moreComing").boolean() == false)
    #expect(try next.token() != page.token())
  }

  @Test func `no page has more than 200 entries for any resultsLimit`() async throws {
    let rig = await Rig()
    try await rig.create((0..<201).map { "R\($0)" })
    for limit in ["201", "100000", "9223372036854775807", "9223372036854775808", "1e19", "null"] {
      let page = try await rig.page("ReadingList", #","resultsLimit":\#(limit)"#)
      #expect(try page.required("records").elements().count == 200)
      #expect(try page.required("moreComing").boolean())
    }
    for limit in ["0", "-1", "1.5", "\"5\"", "-1e19"] {
      let page = try await rig.page("ReadingList", #","resultsLimit":\#(limit)"#)
      #expect(try page.required("serverErrorCode").string() == "BAD_REQUEST")
    }
  }
}
