import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// Lists without an item type: some of CloudKit's clients send only `LIST`.
@Suite struct ListFieldTests {
  private func value(_ field: String) async throws -> FieldValue? {
    let rig = await Rig()
    let event = Event(
      id: "1", record: nil,
      more: #","record":{"recordName":"A","recordType":"T","fields":{"f":\#(field)}}"#)
    let answer = try await rig.produce("[\(event.text)]")
    guard case .change(let change) = rig.relay.seen.facts.first,
      case .record(let record) = change.event
    else {
      Issue.record("\(answer.text)")
      return nil
    }
    return record.value(of: "f")
  }

  @Test func `a record's list may be of type LIST`() async throws {
    for (field, expected) in [
      (#"{"value":[],"type":"LIST"}"#, []),
      (#"{"value":["a","b"],"type":"LIST"}"#, [.string("a"), .string("b")]),
      (#"{"value":[1,2.5],"type":"LIST"}"#, [.double(1), .double(2.5)]),
      (#"{"value":["a",1],"type":"LIST"}"#, [.string("a"), .int64(1)]),
      (
        #"{"value":[{"value":5,"type":"TIMESTAMP"},{"recordName":"R"}],"type":"LIST"}"#,
        [
          .timestamp(Instant(milliseconds: 5)), .reference(recordName: "R", zone: nil),
        ]
      ),
    ] as [(String, [FieldValue])] {
      #expect(try await value(field) == .list(expected), "\(field)")
    }
  }

  @Test(arguments: [
    (#"{"value":"a","type":"LIST"}"#, "value must be an array"),
    (#"{"value":[["a"]],"type":"LIST"}"#, "must not be a list in a list"),
    (#"{"value":[{"value":["a"],"type":"STRING_LIST"}],"type":"LIST"}"#, "must be one value"),
    (#"{"value":[null],"type":"LIST"}"#, "needs a type"),
  ])
  func `a LIST field that is not a flat list of typed values is refused`(
    field: String, reason: String
  ) async throws {
    let event = Event(
      id: "1", record: nil,
      more: #","record":{"recordName":"A","recordType":"T","fields":{"f":\#(field)}}"#)
    let answer = try await Rig().produce("[\(event.text)]")
    #expect(answer.status == 400 && answer.text.contains(reason), "\(answer.text)")
  }

  @Test func `a filter's LIST is accepted only with values of one type`() async throws {
    func answer(_ comparator: String, _ value: String) async throws -> String {
      try await Rig().database(
        "subscriptions/modify",
        #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
          + #""subscriptionType":"query","query":{"recordType":"T","filterBy":[{"comparator":"#
          + #""\#(comparator)","fieldName":"f","fieldValue":{"value":\#(value),"type":"LIST"}}]"#
          + "}}}]}"
      ).text
    }
    for comparator in ["IN", "EQUALS", "LIST_CONTAINS_ANY"] {
      let saved = try await answer(comparator, "[1,2]")
      #expect(saved.contains(#""value":[1,2],"type":"INT64_LIST""#), "\(saved)")
      let empty = try await answer(comparator, "[]")
      #expect(empty.contains(#""value":[]"#) && !empty.contains("serverErrorCode"), "\(empty)")
      let mixed = try await answer(comparator, #"[1,"a"]"#)
      #expect(mixed.contains("must have values of one type"), "\(mixed)")
    }
    #expect(try await answer("LIST_CONTAINS", "[1]").contains("must be one value"))
  }
}
