import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// `record.created` and `record.modified` of an event, which filters on system fields read.
@Suite struct SystemFieldTests {
  private func event(_ members: String) -> String {
    Event(
      record: nil, more: #","record":{"recordName":"A1","recordType":"T","fields":{}\#(members)}"#
    ).text
  }

  private func fields(_ members: String) async throws -> [Field] {
    let rig = await Rig()
    let answer = try await rig.produce("[\(event(members))]")
    #expect(answer.status == 202, "\(answer.text)")
    guard case .change(let change)? = rig.relay.seen.facts.first,
      case .record(let record) = change.event
    else { return [] }
    return record.fields
  }

  @Test func `created and modified become fields with reserved names`() async throws {
    let found = try await fields(
      #","created":{"timestamp":1000,"userRecordName":"_abc","deviceID":"x"},"#
        + #""modified":{"timestamp":2e3,"userRecordName":"_def"}"#)
    #expect(
      found == [
        Field(name: "___createTime", value: .timestamp(Instant(milliseconds: 1_000))),
        Field(name: "___createdBy", value: .string("_abc")),
        Field(name: "___modTime", value: .timestamp(Instant(milliseconds: 2_000))),
        Field(name: "___modifiedBy", value: .string("_def")),
      ])
  }

  @Test func `created, modified and each of their members are optional`() async throws {
    #expect(try await fields(#","created":null,"modified":{}"#) == [])
    #expect(try await fields(#","modified":{"userRecordName":"_d","timestamp":null}"#).count == 1)
  }

  @Test(arguments: [
    (#","created":7"#, "data.record.created must be an object"),
    (
      #","created":{"timestamp":"2026-11-21T03:00:00Z"}"#,
      "data.record.created.timestamp must be a whole number, not a string"
    ),
    (
      #","modified":{"timestamp":1.5}"#, "data.record.modified.timestamp must be a whole number"
    ),
    (#","modified":{"userRecordName":7}"#, "data.record.modified.userRecordName must be a string"),
    (#","modified":{"userRecordName":""}"#, "data.record.modified.userRecordName must have 1 to"),
    (
      #","fields":{"___createTime":{"value":1}}"#,
      "data.record.fields.___createTime must not begin with an underscore"
    ),
    (
      #","fields":{"a":{"value":[1,"b"]}}"#,
      "data.record.fields.a.value[1] must be of the type of the list's other values"
    ),
  ])
  func `a wrong member rejects the event, and the reason names its key`(
    members: String, reason: String
  ) async throws {
    let text = event(members).replacing(
      #","fields":{},"fields""#, with: #","fields""#)
    let answer = try await Rig().produce("[\(text)]")
    #expect(answer.status == 400)
    let found = try answer.each("rejected", "reason").first ?? nil
    #expect(found?.contains(reason) == true, "\(found ?? "nothing")")
  }
}
