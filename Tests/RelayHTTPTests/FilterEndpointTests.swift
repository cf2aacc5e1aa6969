import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// Filters over HTTP: what the relay returns, and the key that each refusal names.
@Suite struct FilterEndpointTests {
  private func save(_ filters: String, more: String = "") -> String {
    #"{"operations":[{"operationType":"create","subscription":{"subscriptionID":"s","#
      + #""subscriptionType":"query","query":{"recordType":"T","#
      + #""filterBy":[\#(filters)]\#(more)}}}]}"#
  }

  /// Comparator, type, value, and the members after the value.
  private static let kept: [(String, String, String, String)] = [
    ("EQUALS", "STRING", #""x""#, ""), ("NOT_EQUALS", "INT64", "-7", ""),
    ("EQUALS", "REFERENCE", #"{"recordName":"R"}"#, ""),
    ("EQUALS", "REFERENCE", #"{"recordName":"R","zoneID":{"zoneName":"Z"}}"#, ""),
    (
      "EQUALS", "REFERENCE",
      #"{"recordName":"R","zoneID":{"zoneName":"Z","ownerRecordName":"_def"}}"#, ""
    ),
    ("EQUALS", "ASSETID", #""sum""#, ""), ("EQUALS", "STRING_LIST", #"["a","b"]"#, ""),
    ("LESS_THAN", "INT64", "9007199254740993", ""),
    ("LESS_THAN_OR_EQUALS", "DOUBLE", "1.5", ""),
    ("GREATER_THAN", "TIMESTAMP", "1700000000000", ""),
    ("GREATER_THAN_OR_EQUALS", "BYTES", #""AQI=""#, ""),
    ("NEAR", "LOCATION", #"{"latitude":48.25,"longitude":-11.5}"#, #","distance":1500.5"#),
    ("CONTAINS_ALL_TOKENS", "STRING", #""two words""#, ""),
    ("CONTAINS_ANY_TOKENS", "STRING_LIST", #"["two","words"]"#, ""),
    ("IN", "STRING_LIST", #"["a","b"]"#, ""), ("NOT_IN", "INT64_LIST", "[1,2]", ""),
    ("BEGINS_WITH", "STRING", #""a""#, ""), ("NOT_BEGINS_WITH", "STRING", #""a""#, ""),
    ("LIST_CONTAINS", "INT64", "1", ""), ("NOT_LIST_CONTAINS", "TIMESTAMP", "1", ""),
    ("LIST_CONTAINS_ALL", "STRING_LIST", #"["a"]"#, ""),
    ("NOT_LIST_CONTAINS_ALL", "DOUBLE_LIST", "[1.5]", ""),
    ("LIST_CONTAINS_ANY", "BYTES_LIST", #"["AQI="]"#, ""),
    ("NOT_LIST_CONTAINS_ANY", "TIMESTAMP_LIST", "[1]", ""),
    ("LIST_MEMBER_BEGINS_WITH", "STRING", #""a""#, ""),
    ("NOT_LIST_MEMBER_BEGINS_WITH", "STRING", #""a""#, ""),
  ]

  @Test(arguments: kept)
  func `a filter comes back as it was saved`(
    comparator: String, type: String, value: String, more: String
  ) async throws {
    let filter =
      #"{"comparator":"\#(comparator)","fieldName":"f","fieldValue":{"value":\#(value),"#
      + #""type":"\#(type)"}\#(more)}"#
    let rig = await Rig()
    let answer = try await rig.database("subscriptions/modify", save(filter))
    #expect(answer.text.contains(#""filterBy":[\#(filter)]"#), "\(answer.text)")
    #expect(try await rig.database("subscriptions/list").text == answer.text)
  }

  @Test func `every comparator of CloudKit's Web Services is known`() {
    #expect(Set(Self.kept.map(\.0)) == Set(QueryRule.Comparator.allCases.map(\.name)))
    #expect(QueryRule.Comparator.allCases.count == 21)
  }

  @Test(arguments: [
    ("recordName", "recordName", #"{"value":"A1","type":"STRING"}"#),
    ("___recordID", "recordName", #"{"value":{"recordName":"A1"},"type":"REFERENCE"}"#),
    ("___etag", "recordChangeTag", #"{"value":"7","type":"STRING"}"#),
    ("createdTimestamp", "createdTimestamp", #"{"value":5,"type":"TIMESTAMP"}"#),
    ("___createTime", "createdTimestamp", #"{"value":5,"type":"TIMESTAMP"}"#),
    ("createdUserRecordName", "createdUserRecordName", #"{"value":"_abc","type":"STRING"}"#),
    (
      "___createdBy", "createdUserRecordName",
      #"{"value":{"recordName":"_abc"},"type":"REFERENCE"}"#
    ),
    ("___modTime", "modifiedTimestamp", #"{"value":5,"type":"TIMESTAMP"}"#),
    ("modifiedTimestamp", "modifiedTimestamp", #"{"value":5,"type":"TIMESTAMP"}"#),
    ("modifiedUserRecordName", "modifiedUserRecordName", #"{"value":"_abc","type":"STRING"}"#),
    ("___modifiedBy", "modifiedUserRecordName", #"{"value":"_abc","type":"STRING"}"#),
  ])
  func `a system field comes back under its name in Web Services`(
    asked: String, shown: String, value: String
  ) async throws {
    let filter = { (name: String) in
      #"{"comparator":"EQUALS","systemFieldName":"\#(name)","fieldValue":\#(value)}"#
    }
    let answer = try await Rig().database("subscriptions/modify", save(filter(asked)))
    #expect(answer.text.contains(#""filterBy":[\#(filter(shown))]"#), "\(answer.text)")
  }

  @Test(arguments: [
    (
      #""comparator":"IN","fieldName":"f","fieldValue":{"value":["a"],"type":"STRING"}"#,
      "STRING_LIST"
    ),
    (#""comparator":"IN","fieldName":"f","fieldValue":{"value":[1,2.5]}"#, "DOUBLE_LIST"),
    (#""comparator":"CONTAINS_ALL_TOKENS","fieldValue":{"value":"a"}"#, #""fieldName":"self""#),
    (
      #""comparator":"LESS_THAN","systemFieldName":"createdTimestamp","fieldValue":{"value":7}"#,
      "TIMESTAMP"
    ),
  ])
  func `the relay adds a filter's missing types and field name`(filter: String, shown: String)
    async throws
  {
    let answer = try await Rig().database("subscriptions/modify", save("{\(filter)}"))
    #expect(try answer.each("subscriptions", "serverErrorCode") == [nil])
    #expect(answer.text.contains(shown), "\(answer.text)")
  }

  @Test func `sortBy is accepted and ignored`() async throws {
    let sort = #","sortBy":[{"fieldName":"f","ascending":true}]"#
    let rig = await Rig()
    let answer = try await rig.database("subscriptions/modify", save("", more: sort))
    #expect(try answer.each("subscriptions", "serverErrorCode") == [nil])
    #expect(!answer.text.contains("sortBy"))
    #expect(try await rig.database("subscriptions/list").text == answer.text)
  }

  /// CloudKit refuses the same query and options under another id, with its error 15/2032.
  @Test(arguments: [
    ("", true), (#","notificationInfo":{"alertBody":"x"}"#, true), (#","zoneWide":true"#, true),
    (#","firesOn":["delete","update","create"]"#, true), (#","firesOnce":true"#, false),
    (#","firesOn":["create"]"#, false), (#","zoneID":{"zoneName":"Z"}"#, false),
  ])
  func `the same query and options under another id is a duplicate`(
    options: String, isDuplicate: Bool
  ) async throws {
    let filter = #"{"comparator":"IN","fieldName":"f","fieldValue":{"value":["a"]}}"#
    let query =
      #""subscriptionType":"query","query":{"recordType":"T","filterBy":[\#(filter)]}"#
    let operations = [
      #"{"subscriptionID":"a",\#(query)}"#, #"{"subscriptionID":"b",\#(query)\#(options)}"#,
    ].map { #"{"operationType":"create","subscription":\#($0)}"# }
    let answer = try await Rig().database(
      "subscriptions/modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    #expect(
      try answer.each("subscriptions", "reason")
        == [nil, isDuplicate ? "subscription is duplicate of 'a'" : nil])
  }

  private static let refused: [(String, String)] = [
    (#""comparator":"LIKE","fieldName":"a","fieldValue":{"value":"b"}"#, "comparator is unknown"),
    (#""fieldName":"a","fieldValue":{"value":"b"}"#, "comparator is missing"),
    (#""comparator":"EQUALS","fieldValue":{"value":"b"}"#, "fieldName is missing"),
    (#""comparator":"EQUALS","fieldName":"a""#, "fieldValue is missing"),
    (#""comparator":"EQUALS","fieldName":"a","fieldValue":{}"#, "fieldValue.value is missing"),
    (
      #""comparator":"EQUALS","fieldName":"_a","fieldValue":{"value":"b"}"#,
      "fieldName must not begin with an underscore"
    ),
    (
      #""comparator":"EQUALS","fieldName":"___etag","fieldValue":{"value":"b"}"#,
      "fieldName is a system field; ask for it as systemFieldName recordChangeTag"
    ),
    (
      #""comparator":"EQUALS","fieldName":"self","fieldValue":{"value":"b"}"#,
      "fieldName self goes with CONTAINS_ALL_TOKENS"
    ),
    (
      #""comparator":"EQUALS","systemFieldName":"share","fieldValue":{"value":"b"}"#,
      "systemFieldName is unknown; known are recordName"
    ),
    (
      #""comparator":"EQUALS","fieldName":"a","systemFieldName":"recordName","#
        + #""fieldValue":{"value":"b"}"#,
      "fieldName must not stand beside systemFieldName"
    ),
    (
      #""comparator":"EQUALS","systemFieldName":"createdTimestamp","fieldValue":{"value":"b"}"#,
      "fieldValue must be of type TIMESTAMP for createdTimestamp"
    ),
    (
      #""comparator":"IN","systemFieldName":"recordName","fieldValue":{"value":[1]}"#,
      "fieldValue must be of type STRING or REFERENCE for recordName"
    ),
    (
      #""comparator":"CONTAINS_ALL_TOKENS","systemFieldName":"recordName","#
        + #""fieldValue":{"value":"b"}"#,
      "comparator does not go with recordName"
    ),
    (
      #""comparator":"BEGINS_WITH","fieldName":"a","fieldValue":{"value":1}"#,
      "fieldValue must be of type STRING for BEGINS_WITH"
    ),
    (
      #""comparator":"LIST_MEMBER_BEGINS_WITH","fieldName":"a","fieldValue":{"value":["b"]}"#,
      "fieldValue must be of type STRING for LIST_MEMBER_BEGINS_WITH"
    ),
    (
      #""comparator":"IN","fieldName":"a","fieldValue":{"value":"b"}"#,
      "fieldValue must be a list for IN"
    ),
    (
      #""comparator":"IN","fieldName":"a","fieldValue":{"value":["b",1]}"#,
      "fieldValue.value[1] must be of the type of the list's other values"
    ),
    (
      #""comparator":"EQUALS","fieldName":"a","fieldValue":{"value":[["b"]]}"#,
      "fieldValue.value[0] must not be a list in a list"
    ),
    (
      #""comparator":"LIST_CONTAINS_ANY","fieldName":"a","fieldValue":{"value":1}"#,
      "fieldValue must be a list for LIST_CONTAINS_ANY"
    ),
    (
      #""comparator":"LIST_CONTAINS","fieldName":"a","fieldValue":{"value":[1]}"#,
      "fieldValue must be one value, not a list for LIST_CONTAINS"
    ),
    (
      #""comparator":"LESS_THAN","fieldName":"a","fieldValue":{"value":{"recordName":"R"}}"#,
      "fieldValue must be of type STRING, INT64, DOUBLE, TIMESTAMP or BYTES for LESS_THAN"
    ),
    (
      #""comparator":"CONTAINS_ANY_TOKENS","fieldName":"a","fieldValue":{"value":1}"#,
      "fieldValue must be of type STRING or STRING_LIST for CONTAINS_ANY_TOKENS"
    ),
    (
      #""comparator":"CONTAINS_ANY_TOKENS","fieldName":"a","fieldValue":{"value":" -"}"#,
      "fieldValue must be a text with a letter or a digit for CONTAINS_ANY_TOKENS"
    ),
    (
      #""comparator":"NEAR","fieldName":"a","fieldValue":{"value":1},"distance":5"#,
      "fieldValue must be of type LOCATION for NEAR"
    ),
    (
      #""comparator":"NEAR","fieldName":"a","fieldValue":{"value":{"latitude":1,"longitude":1}}"#,
      "distance is missing"
    ),
    (
      #""comparator":"NEAR","fieldName":"a","distance":0,"#
        + #""fieldValue":{"value":{"latitude":1,"longitude":1}}"#,
      "distance must be above 0 metres"
    ),
    (
      #""comparator":"NEAR","fieldName":"a","distance":"5","#
        + #""fieldValue":{"value":{"latitude":1,"longitude":1}}"#,
      "distance must be a number"
    ),
    (
      #""comparator":"NEAR","fieldName":"a","distance":5,"#
        + #""fieldValue":{"value":{"latitude":91,"longitude":1}}"#,
      "fieldValue must have a latitude of ±90"
    ),
    (
      #""comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1},"distance":5"#,
      "distance goes with NEAR only"
    ),
  ]

  @Test(arguments: refused)
  func `an invalid filter is refused, and the reason names the key at fault`(
    filter: String, reason: String
  ) async throws {
    let rig = await Rig()
    let answer = try await rig.database("subscriptions/modify", save("{\(filter)}"))
    #expect(try answer.each("subscriptions", "serverErrorCode") == ["BAD_REQUEST"])
    let text = try answer.each("subscriptions", "reason").first ?? nil
    #expect(
      text?.contains("filterBy[0].") == true && text?.contains(reason) == true, "\(text ?? "")")
    #expect(rig.relay.seen.facts.isEmpty)
  }
}
