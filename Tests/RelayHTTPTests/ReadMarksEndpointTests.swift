import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct ReadMarksEndpointTests {
  private static let saved = #"""
    {"operations":[{"operationType":"create","subscription":{"subscriptionID":"articles",
    "subscriptionType":"query","query":{"recordType":"Article"},
    "notificationInfo":{"shouldBadge":true}}}]}
    """#

  private func rig() async throws -> Rig {
    let rig = await Rig()
    let saved = try await rig.database("subscriptions/modify", Self.saved)
    #expect(try saved.each("subscriptions", "serverErrorCode") == [nil])
    try await rig.create(["A1", "A2"])
    return rig
  }

  @Test func `devices see a read mark whether or not they saw the notification`()
    async throws
  {
    let rig = try await rig()
    let first = try await rig.device("notifications/changes", client: Rig.phone)
    let items = try first.json.required("notifications").elements()
    let nid = try items[0].required("notificationID").string()
    let token = try #require(try first.string("syncToken"))
    let answer = try await rig.device(
      "notifications/markRead", #"{"notificationIDs":["\#(nid)"]}"#, client: Rig.phone)
    #expect(answer.status == 200)
    #expect(answer.text == #"{"notifications":[{"notificationID":"\#(nid)","read":true}]}"#)

    let next = try await rig.device(
      "notifications/changes", #"{"syncToken":"\#(token)"}"#, client: Rig.phone)
    #expect(try next.each("notifications", "notificationType") == ["read"])
    #expect(try next.each("notifications", "notificationID") == [nid])
    #expect(try next.each("notifications", "queryNotificationReason") == [nil])
    let mark = try next.json.required("notifications").elements()[0]
    #expect(try mark.required("read").boolean() && mark.required("own").boolean())

    let fresh = try await rig.device("notifications/changes", client: Rig.tablet)
    #expect(try fresh.each("notifications", "notificationType") == ["query", "query"])
    #expect(try fresh.each("notifications", "recordName") == ["A2", "A1"])
    let read = try fresh.json.required("notifications").elements().map {
      try $0.required("read").boolean()
    }
    #expect(read == [false, true])
  }

  @Test func `an unknown notification id succeeds, and a malformed id fails its item`() async throws
  {
    let rig = try await rig()
    let answer = try await rig.device(
      "notifications/markRead",
      #"{"notificationIDs":["00000000-0000-4000-8000-000000000009","A1"]}"#)
    #expect(answer.status == 200)
    #expect(try answer.each("notifications", "serverErrorCode") == [nil, "BAD_REQUEST"])
    #expect(
      try answer.json.required("notifications").elements()[1].required("notificationID").string()
        == "A1")
  }

  @Test(arguments: [
    (#"{}"#, "notificationIDs is missing"),
    (#"{"notificationIDs":"x"}"#, "notificationIDs must be an array, not a string"),
    (#"{"notificationIDs":[7]}"#, "notificationIDs[0] must be a string, not a number"),
  ]) func `the refusal of a bad request names the key at fault`(body: String, reason: String)
    async throws
  {
    let answer = try await rig().device("notifications/markRead", body)
    #expect(answer.status == 400)
    #expect(try answer.string("reason") == reason)
  }

  @Test func `more than 200 notification ids are refused with advice to split`() async throws {
    let ids = [String](repeating: #""00000000-0000-4000-8000-000000000009""#, count: 201)
    let answer = try await rig().device(
      "notifications/markRead", #"{"notificationIDs":[\#(ids.joined(separator: ","))]}"#)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.contains("split the batch in halves") == true)
  }

  @Test func `too many read marks that wait for a fold are throttled`() async throws {
    var limits = Limits()
    limits.readMarksPerUser = 200
    let rig = await Rig(core: limits)
    let ids = (1...150).map { #""00000000-0000-4000-8000-000000000\#(100 + $0)""# }
    let body = #"{"notificationIDs":[\#(ids.joined(separator: ","))]}"#
    #expect(try await rig.device("notifications/markRead", body).status == 200)
    let refused = try await rig.device("notifications/markRead", body)
    #expect(refused.status == 429)
    #expect(try refused.string("serverErrorCode") == "THROTTLED")
    #expect(refused.headers[.retryAfter] == "1")
    #expect(try refused.string("reason")?.contains("200 read marks") == true)
  }

  @Test(arguments: [
    (#"{"badge":0}"#, 200), (#"{"badge":3,"apnsTopic":"com.example.notes"}"#, 200),
    (#"{"badge":-1}"#, 400), (#"{"badge":2147483648}"#, 400), (#"{"badge":"3"}"#, 400),
    (#"{}"#, 400), (#"{"badge":3,"apnsTopic":"com.example.none"}"#, 400),
  ]) func `a badge with an invalid number or an unknown topic is refused`(body: String, status: Int)
    async throws
  {
    #expect(try await rig().device("badge/modify", body).status == status)
  }

  @Test func `shouldBadge comes back as it was saved`() async throws {
    let listed = try await rig().database("subscriptions/list")
    let info = try listed.json.required("subscriptions").elements()[0].required("notificationInfo")
    #expect(try info.required("shouldBadge").boolean())
  }
}
