import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// Records that name a field more than once. As everywhere in a JSON text, the first of several
/// equal keys counts.
@Suite struct EqualFieldTests {
  private func fields(_ text: String) async throws -> [Field] {
    let rig = await Rig()
    let event = Event(
      id: "1", record: nil,
      more: #","record":{"recordName":"A","recordType":"T","fields":{\#(text)}}"#)
    let answer = try await rig.produce("[\(event.text)]")
    guard case .change(let change) = rig.relay.seen.facts.first,
      case .record(let record) = change.event
    else {
      Issue.record("\(answer.text)")
      return []
    }
    return record.fields
  }

  @Test(arguments: [
    #""a":{"value":1},"b":{"value":3},"a":{"value":2}"#,
    #""b":{"value":3},"a":{"value":1},"\u0061":{"value":2}"#,
    #""a":{"value":1},"a":{"value":null},"b":{"value":3},"a":{"value":2}"#,
  ])
  func `the first of a record's fields with one name counts`(text: String) async throws {
    let expected = [
      Field(name: "a", value: .int64(1)), Field(name: "b", value: .int64(3)),
    ]
    #expect(try await fields(text) == expected)
  }

  @Test(arguments: [
    #""a":{"value":null},"b":{"value":3},"a":{"value":2}"#,
    #""b":{"value":3},"\u0061":{},"a":{"value":1},"a":{"value":2}"#,
  ])
  func `a field whose first value is missing has no value`(text: String) async throws {
    #expect(try await fields(text) == [Field(name: "b", value: .int64(3))])
  }
}
