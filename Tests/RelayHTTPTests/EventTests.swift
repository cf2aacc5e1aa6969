import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

@Suite struct EventTests {
  @Test func `a batch is accepted, and its repetition counts as duplicates`() async throws {
    let rig = await Rig()
    let batch = "[\(Event(id: "1").text),\(Event(id: "2", record: "A2").text)]"
    let first = try await rig.produce(batch)
    #expect(first.status == 202)
    #expect(first.text == #"{"accepted":2,"duplicates":0,"rejected":[]}"#)
    let again = try await rig.produce(batch)
    #expect(again.text == #"{"accepted":0,"duplicates":2,"rejected":[]}"#)
    #expect(again.status == 202)
  }

  @Test func `a single event outside a batch is accepted`() async throws {
    let rig = await Rig()
    let answer = try await rig.produce(
      Event().text, type: "application/cloudevents+json; charset=utf-8")
    #expect(answer.status == 202)
    guard case .change(let change) = rig.relay.seen.facts.first else {
      Issue.record("no change arrived")
      return
    }
    #expect(change.zone == ZoneID(name: "ReadingList", owner: UserID("_abc")))
    #expect(change.time == Instant(milliseconds: 1_795_230_000_000))
    #expect(
      change.event
        == .record(RecordChange(verb: .created, name: "A1", type: "Article", tag: "7")))
  }

  @Test func `bad events are rejected by index, and good events are accepted`() async throws {
    let rig = await Rig()
    let answer = try await rig.produce(
      #"[\#(Event(id: "1").text),{"specversion":"1.0"},17,\#(Event(id: "4", type: "other").text)]"#)
    #expect(answer.status == 202)
    #expect(try answer.json.required("accepted").integer() == 1)
    let rejected = try answer.json.required("rejected").elements()
    #expect(try rejected.map { try $0.required("index").integer() } == [1, 2, 3])
    #expect(try rejected.map { try $0.optional("id")?.string() } == [nil, nil, "4"])
    #expect(
      try rejected.map { try $0.required("code").string() }
        == .init(repeating: "BAD_REQUEST", count: 3))
    #expect(try rejected[0].required("reason").string() == "id is missing")
  }

  @Test func `a batch with only rejected events is answered 400`() async throws {
    let answer = try await Rig().produce("[{}]")
    #expect(answer.status == 400)
    #expect(try answer.string("serverErrorCode") == "BAD_REQUEST")
    #expect(try answer.json.required("accepted").integer() == 0)
    #expect(try answer.json.required("rejected").elements().count == 1)
  }

  /// A producer drops its events after a 400, but repeats them after a 503.
  @Test(arguments: [Readiness.draining, .recovering, .stopping])
  func `a relay that is not ready answers 503 even to bad events`(readiness: Readiness) async throws
  {
    let rig = await Rig()
    rig.relay.behave { $0.readiness = readiness }
    let answer = try await rig.produce("[{}]")
    #expect(answer.status == 503)
    #expect(try answer.string("serverErrorCode") == "TRY_AGAIN_LATER")
    #expect(answer.headers[.retryAfter] == (readiness == .recovering ? "1" : "5"))
  }

  /// The answer was lost, and the producer repeats the request. Accepted events are duplicates, and
  /// only events that were bad the first time are rejected again.
  @Test func `a repeated request that is partly rejected is answered 202 again`() async throws {
    let rig = await Rig()
    let batch = "[\(Event(id: "1").text),{}]"
    let first = try await rig.produce(batch)
    #expect(first.status == 202)
    #expect(try first.json.required("accepted").integer() == 1)
    let again = try await rig.produce(batch)
    #expect(again.status == 202)
    #expect(try again.json.required("accepted").integer() == 0)
    #expect(try again.json.required("duplicates").integer() == 1)
    #expect(try again.json.required("rejected").elements().count == 1)
    #expect(try again.string("serverErrorCode") == nil)
  }

  static let rejected: [(String, String)] = [
    (#"{"specversion":"0.3","id":"1","source":"s","type":"t"}"#, "specversion must be"),
    (#"{"specversion":1,"id":"1","source":"s","type":"t"}"#, "specversion must be a string"),
    (#"{"specversion":"1.0","id":"","source":"s","type":"t"}"#, "id must have 1 to 1024 bytes"),
    (#"{"specversion":"1.0","id":"1","type":"t"}"#, "source is missing"),
    (#"{"specversion":"1.0","id":"1","source":"s"}"#, "type is missing"),
    (#"{"specversion":"1.0","id":"1","source":"s","type":"com.other"}"#, "type is unknown"),
    (Event(more: #","sequence":-1"#).text, "data.sequence must be a whole number, 0 or more"),
    (Event(database: "shared").text, "data.database"),
    (Event(database: "secret").text, "data.database must be"),
    (Event(database: "public").text, "data.zoneID must be _defaultZone"),
    (Event(record: nil).text, "data.record is missing"),
    (Event(type: "zonerelay.zone.deleted", zone: "_defaultZone").text, "must be a custom zone"),
    (Event(type: "zonerelay.zone.created", database: "public").text, "data.database must be"),
    (Event(type: "zonerelay.share.granted", record: nil).text, "data.participant is missing"),
    (
      Event(type: "zonerelay.share.granted", record: nil, more: #","participant":"_abc""#).text,
      "must not be the zone's owner"
    ),
    (
      Event(
        type: "zonerelay.share.revoked", record: nil,
        more: #","participant":"_def","share":{"recordName":"S"}"#
      ).text, "data.share.recordName is not supported"
    ),
    (Event(owner: "__defaultOwner__").text, "data.zoneID.ownerRecordName must be a user's record"),
    (
      Event(type: "zonerelay.zone.created", owner: "__defaultOwner__", record: nil).text,
      "data.zoneID.ownerRecordName must be a user's record name"
    ),
    (
      Event(
        type: "zonerelay.share.granted", record: nil, more: #","participant":"__defaultOwner__""#
      ).text, "data.participant must be a user's record name"
    ),
    (
      Event(more: #","changedBy":{"userRecordName":"__defaultOwner__"}"#).text,
      "data.changedBy.userRecordName must be a user's record name"
    ),
    (Event(client: "not-a-uuid").text, "data.changedBy.clientId must be a UUID"),
    (Event(more: #","sequence":"7""#).text, "data.sequence must be a whole number"),
    (Event(more: #","sequence":7.5"#).text, "data.sequence must be a whole number"),
    (Event(zone: "Read\\u0007ing").text, "data.zoneID.zoneName must have"),
    (Event(zone: String(repeating: "z", count: 256)).text, "data.zoneID.zoneName must have"),
    (
      Event(
        record: nil,
        more:
          #","record":{"recordName":"A","recordType":"T","#
          + #""fields":{"a":{"value":1,"type":"STRING"}}}"#
      )
      .text, "data.record.fields.a.value must be a string, not a number"
    ),
    (
      Event(
        record: nil,
        more:
          #","record":{"recordName":"A","recordType":"T","fields":{"a":{"value":1,"type":"X"}}}"#
      )
      .text, "'X' is no field type"
    ),
    (
      Event(record: nil, more: #","record":{"recordName":"A"}"#).text,
      "data.record.recordType is missing"
    ),
    (
      Event().text.replacing("2026-11-21T03:00:00Z", with: "yesterday"),
      "time must be a date of RFC 3339"
    ),
  ]

  @Test(arguments: rejected)
  func `the rejection of an invalid event names the key at fault`(event: String, reason: String)
    async throws
  {
    let rig = await Rig()
    let answer = try await rig.produce(event, type: "application/cloudevents+json")
    #expect(answer.status == 400)
    let text = try answer.each("rejected", "reason").first ?? nil
    #expect(text?.contains(reason) == true, "\(text ?? "nothing")")
    #expect(rig.relay.seen.facts.isEmpty)
  }

  @Test func `the relay reads every kind of event and every type of field`() async throws {
    let rig = await Rig()
    let fields = #"""
      {"s":{"value":"x","type":"STRING"},"i":{"value":9007199254740993},"d":{"value":1.5},
      "b":{"value":"AQI=","type":"BYTES"},"t":{"value":1000,"type":"TIMESTAMP"},
      "r":{"value":{"recordName":"R","action":"NONE"},"type":"REFERENCE"},
      "l":{"value":{"latitude":1,"longitude":2.5},"type":"LOCATION"},
      "n":{"value":null,"type":"STRING"},"m":{"value":["a","b"],"type":"STRING_LIST"}}
      """#
    let record = #","record":{"recordName":"A","recordType":"T","fields":\#(fields)}"#
    let kinds = [
      "record.created", "record.updated", "record.deleted", "zone.created", "zone.reset",
      "zone.purged", "zone.deleted", "share.granted", "share.revoked",
    ]
    let events = kinds.enumerated().map { index, kind in
      Event(
        id: "\(index)", type: "zonerelay.\(kind)", record: nil,
        more: record + #","participant":"_def","sequence":4e1"#
      ).text
    }
    let answer = try await rig.produce("[\(events.joined(separator: ","))]")
    #expect(answer.text == #"{"accepted":9,"duplicates":0,"rejected":[]}"#)
    guard case .change(let change) = rig.relay.seen.facts[0], case .record(let first) = change.event
    else {
      Issue.record("the first fact is no change of a record")
      return
    }
    #expect(change.sequence == 40)
    #expect(
      first.fields == [
        Field(name: "b", value: .bytes([1, 2])), Field(name: "d", value: .double(1.5)),
        Field(name: "i", value: .int64(9_007_199_254_740_993)),
        Field(name: "l", value: .location(latitude: 1, longitude: 2.5)),
        Field(name: "m", value: .list([.string("a"), .string("b")])),
        Field(name: "r", value: .reference(recordName: "R", zone: nil)),
        Field(name: "s", value: .string("x")),
        Field(name: "t", value: .timestamp(Instant(milliseconds: 1_000))),
      ])
  }

  @Test func `a public change needs no zone`() async throws {
    let rig = await Rig()
    let event = #"""
      {"specversion":"1.0","id":"1","source":"s","type":"zonerelay.record.deleted",
      "data":{"database":"public","record":{"recordName":"A"}}}
      """#
    #expect(try await rig.produce(event, type: "application/cloudevents+json").status == 202)
    guard case .change(let change) = rig.relay.seen.facts.first else {
      Issue.record("the first fact is no change")
      return
    }
    #expect(change.zone == .publicDefault)
  }

  @Test func `each change carries its producer's fetch capacity`() async throws {
    for capacity in [0, 250] {
      let producer = ScopeAccess.Producer(
        name: "records-1", proof: .bearer(Rig.producerKey), fetchCapacity: capacity)
      let rig = await Rig(access: ScopeAccess(users: nil, producers: [producer]))
      #expect(try await rig.produce("[\(Event().text)]").status == 202)
      guard case .change(let change) = rig.relay.seen.facts.first else {
        Issue.record("no change")
        return
      }
      #expect(change.fetchCapacity == capacity)
    }
  }

  @Test func `one event in two scopes gets two fingerprints and notification ids`() async throws {
    let reader = { (scope: Scope) in
      EventReader(
        scope: scope, producer: "records-1", ids: TestKeys(), limits: HTTPLimits())
    }
    let event = try JSONTree(Array(Event().text.utf8)).root
    let other = Scope(container: Rig.container, environment: .production)
    let changes = try [reader(Rig.scope).change(event), reader(other).change(event)]
    #expect(changes[0].fingerprint != changes[1].fingerprint)
    #expect(changes[0].notification != changes[1].notification)
  }

  @Test(arguments: [
    ("[]", "the batch is empty"), ("{}", "the body must be an array of events"),
    ("[", "not valid JSON"), ("", "the text is empty"),
  ])
  func `an empty or malformed batch of events is refused`(body: String, reason: String) async throws
  {
    let answer = try await Rig().produce(body)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.contains(reason) == true)
  }

  /// An event of exactly `bytes` bytes.
  private func event(_ id: String, bytes: Int) -> String {
    let text = Event(id: id, more: #","pad":"""#).text
    let pad = String(repeating: "x", count: bytes - text.utf8.count)
    return Event(id: id, more: #","pad":"\#(pad)""#).text.replacing("\n", with: " ")
  }

  /// Limit: limits.eventBytes
  @Test func `an event that is too large is rejected, and the others are accepted`() async throws {
    var limits = HTTPLimits()
    limits.eventBytes = 700
    let rig = await Rig(limits: limits)
    let events = [699, 700, 701].map { event("\($0)", bytes: $0) }
    let answer = try await rig.produce("[ \(events.joined(separator: " , ")) ]")
    #expect(answer.status == 202)
    #expect(try answer.json.required("accepted").integer() == 2)
    #expect(try answer.each("rejected", "id") == ["701"])
    #expect(try answer.each("rejected", "code") == ["QUOTA_EXCEEDED"])
    #expect(
      try answer.each("rejected", "reason").first??.hasPrefix(
        "the event has 701 bytes, and one may have 700;") == true)
    let lines = try await rig.produce(
      events.joined(separator: "\r\n"), type: "application/x-ndjson")
    #expect(try lines.each("rejected", "id") == ["701"])
    #expect(try lines.json.required("duplicates").integer() == 2)
  }

  @Test func `a single event that is too large is answered 413`() async throws {
    var limits = HTTPLimits()
    limits.eventBytes = 700
    let rig = await Rig(limits: limits)
    let type = "application/cloudevents+json"
    let answer = try await rig.produce(event("1", bytes: 701) + "\n", type: type)
    #expect(answer.status == 413)
    #expect(try answer.string("serverErrorCode") == "QUOTA_EXCEEDED")
    #expect(rig.relay.seen.facts.isEmpty)
    let batch = try await rig.produce("[\(event("1", bytes: 701))]")
    #expect(batch.status == 400, "rejected, as in any batch, and nothing else came")
    #expect(try batch.each("rejected", "code") == ["QUOTA_EXCEEDED"])
    #expect(try await rig.produce(event("1", bytes: 700) + "\n", type: type).status == 202)
  }

  @Test func `a request too large for the store is answered 413 without Retry-After`() async throws
  {
    let rig = await Rig()
    rig.relay.behave { $0.refusal = .requestTooLarge }
    let answer = try await rig.produce("[\(Event().text)]")
    #expect(answer.status == 413)
    #expect(answer.headers[.retryAfter] == nil)
    #expect(try answer.string("serverErrorCode") == "QUOTA_EXCEEDED")
  }

  @Test func `a full relay answers 429 with Retry-After, and a draining relay 503`() async throws {
    let rig = await Rig()
    rig.relay.behave { $0.refusal = .inboxFull }
    let answer = try await rig.produce("[\(Event().text)]")
    #expect(answer.status == 429)
    #expect(answer.headers[.retryAfter] == "1")
    #expect(try answer.json.required("retryAfter").integer() == 1)
    #expect(try answer.string("serverErrorCode") == "THROTTLED")
    rig.relay.behave { $0.refusal = .draining }
    let draining = try await rig.produce("[\(Event().text)]")
    #expect(draining.status == 503)
    #expect(try draining.string("serverErrorCode") == "TRY_AGAIN_LATER")
  }
}
