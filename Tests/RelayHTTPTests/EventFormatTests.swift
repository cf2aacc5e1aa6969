import HTTPTypes
import RelayCore
import RelayHTTP
import RelayWire
import Testing

/// The formats of events beside JSON: lines and CloudEvents' binary mode.
@Suite struct EventFormatTests {
  private static let lines = "application/x-ndjson"
  private static let path = "/events/1/\(Rig.container)/development"

  /// An event on one line.
  private func line(_ id: String, record: String? = "A1") -> String {
    Event(id: id, record: record).text.split(separator: "\n").joined()
  }

  private func changes(_ rig: Rig) -> [Change] {
    rig.relay.seen.facts.compactMap { if case .change(let change) = $0 { change } else { nil } }
  }

  @Test(arguments: ["\n", "\r\n", "\n\n \t\n\r\n"], [true, false])
  func `each line is one event, whatever the line ending`(
    end: String, isEnded: Bool
  ) async throws {
    let rig = await Rig()
    let body = [line("1"), line("2", record: "A2")].joined(separator: end) + (isEnded ? end : "")
    let answer = try await rig.produce(body, type: Self.lines)
    #expect(answer.status == 202)
    #expect(answer.text == #"{"accepted":2,"duplicates":0,"rejected":[]}"#)
    #expect(changes(rig).count == 2)
  }

  @Test func `a line that is not JSON is rejected by index, and others are accepted`()
    async throws
  {
    let rig = await Rig()
    let body = [line("1"), "{", "", "17", line("4", record: nil), line("5"), "[]", "\"x\""]
    let answer = try await rig.produce(body.joined(separator: "\n"), type: Self.lines)
    #expect(answer.status == 202)
    #expect(try answer.json.required("accepted").integer() == 2)
    let rejected = try answer.json.required("rejected").elements()
    #expect(try rejected.map { try $0.required("index").integer() } == [1, 2, 3, 5, 6])
    #expect(try rejected.map { try $0.optional("id")?.string() } == [nil, nil, "4", nil, nil])
    let reasons = try rejected.map { try $0.required("reason").string() }
    #expect(reasons[0].hasPrefix("not valid JSON"))
    #expect(reasons[2] == "data.record is missing")
  }

  @Test func `a pretty-printed event is refused in the line format`() async throws {
    let answer = try await Rig().produce(Event().text, type: Self.lines)
    #expect(answer.status == 400)
    #expect(try answer.json.required("rejected").elements().count > 1)
  }

  @Test(arguments: ["", "\n", " \r\n\t\n"])
  func `lines without an event are an empty batch`(body: String) async throws {
    let answer = try await Rig().produce(body, type: Self.lines)
    #expect(answer.status == 400)
    #expect(try answer.string("reason") == "the batch is empty")
  }

  @Test func `a request takes at most 1,000 lines`() async throws {
    let rig = await Rig()
    let most = (0..<1_000).map { line("\($0)") }.joined(separator: "\n")
    #expect(try await rig.produce(most + "\n", type: Self.lines).status == 202)
    let answer = try await rig.produce(most + "\n" + line("x"), type: Self.lines)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.hasPrefix("1001 events") == true)
  }

  @Test func `a repeated id in a line is a duplicate, as in any other format`() async throws {
    let rig = await Rig()
    _ = try await rig.produce("[\(line("1"))]")
    let again = try await rig.produce(line("1"), type: Self.lines)
    #expect(again.text == #"{"accepted":0,"duplicates":1,"rejected":[]}"#)
  }

  @Test(arguments: [
    ("application/cloudevents+json; charset=utf-8", "", ""),
    ("Application/CloudEvents+JSON ;charset=\"UTF-8\"", "", ""),
    ("application/cloudevents-batch+json;charset=utf-8", "[", "]"),
    ("application/x-ndjson; charset=utf-8", "", "\n"),
  ])
  func `a content type may have parameters`(type: String, start: String, end: String) async throws {
    let answer = try await Rig().produce(start + line("1") + end, type: type)
    #expect(answer.status == 202)
  }

  // MARK: binary mode

  private static let attributes: HTTPFields = [
    HTTPField.Name("ce-specversion")!: "1.0", HTTPField.Name("ce-id")!: "01JD",
    HTTPField.Name("ce-source")!: "/records/api-1",
    HTTPField.Name("ce-type")!: "zonerelay.record.created",
    HTTPField.Name("ce-time")!: "2026-11-21T03:00:00Z",
    .contentType: "application/json; charset=utf-8",
  ]
  private static let data = #"""
    {"database":"private","zoneID":{"zoneName":"ReadingList","ownerRecordName":"_abc"},
    "record":{"recordName":"A1","recordType":"Article","recordChangeTag":"7"}}
    """#

  private func send(
    _ rig: Rig, _ body: String = data, _ changes: [String: String?] = [:],
    bearer: String? = Rig.producerKey
  ) async throws -> Rig.Answer {
    var headers = Self.attributes
    for (name, value) in changes { headers[HTTPField.Name(name)!] = value }
    return try await rig.send(.post, Self.path, body, bearer: bearer, headers: headers)
  }

  @Test func `binary mode gives the same facts as structured mode`() async throws {
    let (structured, binary) = (await Rig(), await Rig())
    _ = try await structured.produce(Event().text, type: "application/cloudevents+json")
    let answer = try await send(binary)
    #expect(answer.status == 202)
    #expect(answer.text == #"{"accepted":1,"duplicates":0,"rejected":[]}"#)
    #expect(binary.relay.seen.facts == structured.relay.seen.facts)
    let again = try await send(binary)
    #expect(again.text == #"{"accepted":0,"duplicates":1,"rejected":[]}"#)
  }

  @Test(arguments: [
    ("Euro%20%E2%82%AC%20%F0%9F%98%80", "Euro € 😀"), ("%e2%82%ac", "€"), ("a%41", "aA"),
    ("a%2520b", "a%20b"), (#""a \"b\" \\ c""#, #"a "b" \ c"#), (#""a%20b""#, "a b"),
  ])
  func `attributes are unquoted and percent-decoded once`(field: String, id: String) async throws {
    let (structured, binary) = (await Rig(), await Rig())
    let written = id.replacing(#"\"#, with: #"\\"#).replacing("\"", with: #"\""#)
    _ = try await structured.produce(Event(id: written).text, type: "application/cloudevents+json")
    #expect(try await send(binary, Self.data, ["ce-id": field]).status == 202)
    #expect(binary.relay.seen.facts == structured.relay.seen.facts)
  }

  @Test func `unknown attributes are ignored, and time may be left out`() async throws {
    let rig = await Rig()
    let answer = try await send(
      rig, Self.data,
      ["ce-traceparent": "00-1-2-01", "ce-x": "%", "ce-time": nil, "content-type": nil])
    #expect(answer.status == 202)
    // The change has no time yet. The relay sets the time of acceptance later.
    #expect(changes(rig).first?.time == .zero)
  }

  static let rejected: [(String, String?, String)] = [
    ("ce-id", nil, "ce-id is missing"), ("ce-source", nil, "ce-source is missing"),
    ("ce-type", nil, "ce-type is missing"), ("ce-specversion", nil, "ce-specversion is missing"),
    ("ce-id", "", "ce-id must have 1 to 1024 bytes"),
    ("ce-specversion", "0.3", "ce-specversion must be \"1.0\""),
    ("ce-type", "com.other", "ce-type is unknown"),
    ("ce-time", "yesterday", "ce-time must be a date of RFC 3339"),
    ("ce-source", "%00", "ce-source must have 1 to 1024 bytes and no control characters"),
  ]

  @Test(arguments: rejected)
  func `the rejection of a bad attribute names its header`(
    name: String, value: String?, reason: String
  ) async throws {
    let rig = await Rig()
    let answer = try await send(rig, Self.data, [name: value])
    #expect(answer.status == 400)
    #expect(try answer.string("serverErrorCode") == "BAD_REQUEST")
    let text = try answer.each("rejected", "reason").first ?? nil
    #expect(text?.hasPrefix(reason) == true, "\(text ?? answer.text)")
    #expect(rig.relay.seen.facts.isEmpty)
  }

  @Test(arguments: ["%C0%A0", "100%", "%zz", "%"])
  func `a field that cannot be decoded is a bad request`(value: String) async throws {
    let answer = try await send(await Rig(), Self.data, ["ce-id": value])
    #expect(answer.status == 400)
    #expect(try answer.string("reason") == "ce-id is not UTF-8 in percent-encoding")
  }

  @Test func `a header field that appears twice is a bad request`() async throws {
    var headers = Self.attributes
    headers.append(HTTPField(name: HTTPField.Name("ce-id")!, value: "2"))
    let answer = try await Rig().send(
      .post, Self.path, Self.data, bearer: Rig.producerKey, headers: headers)
    #expect(answer.status == 400)
    #expect(try answer.string("reason") == "ce-id stands more than once")
  }

  @Test(arguments: [
    ("{}", "data.database is missing"), ("[]", "data must be an object, not an array"),
    (#"{"database":"private","zoneID":{}}"#, "data.zoneID.zoneName is missing"),
  ])
  func `the rejection of bad data names its path`(body: String, reason: String) async throws {
    let answer = try await send(await Rig(), body)
    #expect(answer.status == 400)
    #expect(try answer.each("rejected", "reason") == [reason])
    #expect(try answer.each("rejected", "id") == ["01JD"])
  }

  @Test(arguments: ["", "{", #"{} , "id": "other""#])
  func `a body that is not JSON is refused as a whole`(body: String) async throws {
    let answer = try await send(await Rig(), body)
    #expect(answer.status == 400)
    #expect(try answer.string("reason")?.hasPrefix("not valid JSON") == true)
  }

  @Test func `binary mode gives the same error answers as the other formats`() async throws {
    #expect(try await send(await Rig(), Self.data, ["content-type": "text/plain"]).status == 415)
    #expect(try await send(await Rig(), Self.data, ["content-type": "text/csv+json"]).status == 202)
    #expect(try await send(await Rig(), Self.data, bearer: nil).status == 401)
    var limits = HTTPLimits()
    limits.bodyBytes = 50
    #expect(try await send(await Rig(limits: limits)).status == 413)
    let lines = try await Rig(limits: limits).produce(line("1"), type: Self.lines)
    #expect(lines.status == 413)
    let extensions: HTTPFields = [
      HTTPField.Name("ce-traceparent")!: "x", .contentType: "application/json",
    ]
    let none = try await Rig().send(
      .post, Self.path, Self.data, bearer: Rig.producerKey, headers: extensions)
    #expect(none.status == 415)
  }

  @Test func `a CloudEvents content type decides, whatever ce- fields are present`() async throws {
    let rig = await Rig()
    let answer = try await send(
      rig, line("structured"), ["content-type": "application/cloudevents+json", "ce-id": "%"])
    #expect(answer.status == 202)
  }
}
