import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// P11: each bound of a request, tested one below the bound, at the bound, and one above it.
@Suite struct RequestLimitTests {
  private func expect(
    _ answer: Rig.Answer, _ status: Int, _ code: String, _ reason: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    #expect(answer.status == status, "\(answer.text)", sourceLocation: sourceLocation)
    #expect(
      try answer.string("serverErrorCode") == code, "\(answer.text)",
      sourceLocation: sourceLocation)
    #expect(
      try answer.string("reason")?.contains(reason) == true, "\(answer.text)",
      sourceLocation: sourceLocation)
  }

  /// Limit: limits.eventsPerRequest
  @Test(arguments: [(count: 1, isRefused: false), (2, false), (3, true)])
  func `a request with more events than the limit is refused`(count: Int, isRefused: Bool)
    async throws
  {
    var limits = Rig.atOnce
    limits.eventsPerRequest = 2
    let events = (0..<count).map { Event(id: "\($0)").text.replacing("\n", with: " ") }
    for (body, type) in [
      ("[\(events.joined(separator: ","))]", "application/cloudevents-batch+json"),
      (events.joined(separator: "\n"), "application/x-ndjson"),
    ] {
      let rig = await Rig(limits: limits)
      let answer = try await rig.produce(body, type: type)
      #expect(rig.relay.seen.facts.count == (isRefused ? 0 : count))
      if isRefused {
        try expect(
          answer, 400, "BAD_REQUEST", "3 events; a request takes at most 2, split the batch")
      } else {
        #expect(answer.status == 202)
      }
    }
  }

  /// Limit: limits.requestBodyBytes
  @Test(arguments: [(bytes: 999, isRefused: false), (1_000, false), (1_001, true)])
  func `a body with more bytes than the limit is refused`(bytes: Int, isRefused: Bool) async throws
  {
    var limits = Rig.atOnce
    limits.bodyBytes = 1_000
    let rig = await Rig(limits: limits)
    func padded(_ text: String) -> String {
      text + String(repeating: " ", count: bytes - text.utf8.count)
    }
    let event = try await rig.produce(
      padded(Event().text), type: "application/cloudevents+json")
    let device = try await rig.device("tokens/list", padded("{}"))
    #expect([event.status, device.status] == (isRefused ? [413, 413] : [202, 200]))
    for answer in [event, device] where isRefused {
      try expect(answer, 413, "QUOTA_EXCEEDED", "more than 1000 bytes; split the request")
    }
    #expect(rig.relay.seen.facts.count == (isRefused ? 0 : 1))
  }

  /// The room for bodies counts received bytes, not the announced length.
  ///
  /// Limit: limits.requestBodyBytesInFlight
  @Test(arguments: [(spare: -1, isRefused: true), (0, false), (1, false)])
  func `the bytes of all bodies under way are bounded`(
    spare: Int, isRefused: Bool
  ) async throws {
    let body = "[\(Event().text)]"
    var limits = Rig.atOnce
    limits.bodyBytesInFlight = body.utf8.count + spare
    let rig = await Rig(limits: limits)
    for _ in 0..<2 {
      let answer = try await rig.produce(body)
      guard isRefused else {
        #expect(answer.status == 202, "what was answered takes no room: \(answer.text)")
        continue
      }
      try expect(answer, 503, "TRY_AGAIN_LATER", "too many requests at once")
      #expect(answer.headers[.retryAfter] == "1")
      #expect(try answer.json.required("retryAfter").integer() == 1)
    }
  }

  /// A zone of `entries` records, and a page of the largest size that a client may ask for.
  ///
  /// Limit: limits.pageEntries
  @Test(arguments: [(entries: 2, shown: 2), (3, 3), (4, 3)])
  func `a page has at most the configured number of entries`(entries: Int, shown: Int) async throws
  {
    var limits = Rig.atOnce
    limits.pageEntries = 3
    let rig = await Rig(limits: limits)
    try await rig.create((0..<entries).map { "R\($0)" })
    for asked in ["", #","resultsLimit":200"#] {
      let page = try await rig.page("ReadingList", asked)
      #expect(try page.required("records").elements().count == shown)
      #expect(try page.required("moreComing").boolean() == (shown < entries))
    }
    let asked = try await rig.page("ReadingList", #","resultsLimit":\#(entries)"#)
    #expect(try asked.required("records").elements().count == shown)
  }

  /// Fixed limit: operations, zones or lookups of a request
  @Test(arguments: [(count: 199, isRefused: false), (200, false), (201, true)])
  func `a request has at most 200 operations, zones or lookups`(
    count: Int, isRefused: Bool
  ) async throws {
    let rig = await Rig()
    func list(_ item: String) -> String {
      Array(repeating: item, count: count).joined(separator: ",")
    }
    let zone = #"{"zoneName":"Z"}"#
    for (endpoint, key, item) in [
      ("subscriptions/modify", "operations", #"{"operationType":"delete","subscriptionID":"s"}"#),
      ("subscriptions/lookup", "subscriptions", #"{"subscriptionID":"s"}"#),
      ("zones/lookup", "zones", zone), ("changes/zone", "zones", #"{"zoneID":\#(zone)}"#),
    ] {
      let answer = try await rig.database(endpoint, #"{"\#(key)":[\#(list(item))]}"#)
      guard isRefused else {
        #expect(answer.status == 200, "\(endpoint): \(answer.text)")
        continue
      }
      try expect(
        answer, 400, "BAD_REQUEST", "\(key) has 201 items, more than 200; split the batch")
    }
    let marks = #"{"notificationIDs":[\#(list(#""00000000-0000-4000-8000-000000000009""#))]}"#
    let answer = try await rig.device("notifications/markRead", marks)
    #expect(answer.status == (isRefused ? 400 : 200), "\(answer.text)")
  }

  /// Fixed limit: name
  @Test(arguments: [(bytes: 254, isRefused: false), (255, false), (256, true)])
  func `a name has at most 255 bytes`(bytes: Int, isRefused: Bool) async throws {
    let rig = await Rig()
    let name = String(repeating: "n", count: bytes)
    let guest = #","participant":"\#(name)""#
    for event in [
      Event(id: "1", record: name), Event(id: "2", zone: name), Event(id: "3", owner: name),
      Event(id: "4", type: "zonerelay.share.granted", record: nil, more: guest),
    ] {
      let answer = try await rig.produce("[\(event.text)]")
      #expect(answer.status == (isRefused ? 400 : 202), "\(answer.text)")
      guard isRefused else { continue }
      #expect(try answer.each("rejected", "code") == ["BAD_REQUEST"])
      #expect(answer.text.contains("must have 1 to 255 bytes"), "\(answer.text)")
    }
  }

  /// Fixed limit: event id, source
  @Test(arguments: [(bytes: 1_023, isRefused: false), (1_024, false), (1_025, true)])
  func `an event's id and source have at most 1,024 bytes each`(
    bytes: Int, isRefused: Bool
  ) async throws {
    let rig = await Rig()
    let text = String(repeating: "i", count: bytes)
    for event in [
      Event(id: text).text, Event(id: "1").text.replacing("/records/api-1", with: text),
    ] {
      let answer = try await rig.produce("[\(event)]")
      #expect(answer.status == (isRefused ? 400 : 202), "\(answer.text)")
      #expect(answer.text.contains("must have 1 to 1024 bytes") == isRefused, "\(answer.text)")
    }
  }

  /// Fixed limit: courier address
  @Test(arguments: [(spare: Int64(-1), status: 200), (0, 410), (1, 410)])
  func `a courier's address is valid for 12 hours`(spare: Int64, status: Int) async throws {
    let rig = await Rig()
    let body = #"{"apnsEnvironment":"development","apnsToken":"00ff"}"#
    let url = try #require(try await rig.device("tokens/register", body).string("webcourierURL"))
    var clock = TestClock()
    clock.now = clock.now + .hours(12) + Span(milliseconds: spare)
    let later = await Rig(clock: clock, relay: rig.relay)
    let answer = try await later.send(
      .get, String(url.dropFirst("https://relay.example.com".count)))
    #expect(answer.status == status, "\(answer.text)")
    guard status == 410 else { return }
    try expect(answer, 410, "NOT_FOUND", "has expired; register again")
  }
}
