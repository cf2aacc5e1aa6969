import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// P11: each bound of a subscription and of a record, tested one below the bound, at the bound, and
/// one above it.
@Suite struct SubscriptionLimitTests {
  /// The error of the subscription's item; `nil` means that the relay saved the subscription.
  private func refusal(
    _ members: String, core: Limits = Limits(), in database: String = "private"
  ) async throws -> (code: String, reason: String)? {
    let rig = await Rig(core: core)
    let answer = try await rig.database(
      "subscriptions/modify",
      #"{"operations":[{"operationType":"create","subscription":"#
        + #"{"subscriptionID":"s",\#(members)}}]}"#,
      in: database)
    #expect(answer.status == 200)
    guard let code = try answer.each("subscriptions", "serverErrorCode").first ?? nil else {
      return nil
    }
    return (code, try answer.each("subscriptions", "reason").first.flatMap { $0 } ?? "")
  }

  private func query(_ filters: [String], info: String = "") -> String {
    #""subscriptionType":"query","query":{"recordType":"T","filterBy":["#
      + filters.joined(separator: ",") + "]}" + info
  }

  private func filter(_ comparator: String, _ value: String) -> String {
    #"{"comparator":"\#(comparator)","fieldName":"f","fieldValue":{"value":\#(value)}}"#
  }

  private func check(
    _ members: String, isRefused: Bool, _ reason: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await refusal(members)
    #expect((found != nil) == isRefused, "\(members)", sourceLocation: sourceLocation)
    guard let found else { return }
    #expect(found.code == "BAD_REQUEST", sourceLocation: sourceLocation)
    #expect(found.reason.contains(reason), "\(found.reason)", sourceLocation: sourceLocation)
  }

  /// Fixed limit: filters of a query
  @Test(arguments: [(19, false), (20, false), (21, true)])
  func `a query has at most 20 filters`(count: Int, isRefused: Bool) async throws {
    let filters = (0..<count).map { filter("NOT_EQUALS", "\($0)") }
    try await check(query(filters), isRefused: isRefused, "filterBy has more than 20 filters")
  }

  /// Fixed limit: values of a filter
  @Test(arguments: [(127, false), (128, false), (129, true)])
  func `a filter has at most 128 values`(count: Int, isRefused: Bool) async throws {
    for value in ["7", #""""#] {
      let values = "[" + Array(repeating: value, count: count).joined(separator: ",") + "]"
      for comparator in ["IN", "EQUALS", "LIST_CONTAINS_ALL", "NOT_LIST_CONTAINS_ANY"] {
        try await check(
          query([filter(comparator, values)]), isRefused: isRefused, "has more than 128 values")
      }
    }
  }

  /// Fixed limit: text of a subscription
  /// Fixed limit: texts of a filter, together
  @Test(arguments: [(1_023, false), (1_024, false), (1_025, true)])
  func `a text, and all texts of one filter together, have at most 1,024 bytes`(
    bytes: Int, isRefused: Bool
  ) async throws {
    let text = String(repeating: "x", count: bytes)
    let reason = "has more than 1024 bytes"
    try await check(query([filter("EQUALS", "\"\(text)\"")]), isRefused: isRefused, reason)
    try await check(
      query([filter("IN", "[\"\(text.dropLast())\",\"x\"]")]), isRefused: isRefused, reason)
    try await check(
      #""subscriptionType":"database","notificationInfo":{"alertBody":"\#(text)"}"#,
      isRefused: isRefused, reason)
  }

  /// Fixed limit: additionalFields
  @Test(arguments: [(2, false), (3, false), (4, true)])
  func `a subscription has at most 3 additionalFields`(count: Int, isRefused: Bool) async throws {
    let names = (0..<count).map { "\"f\($0)\"" }.joined(separator: ",")
    try await check(
      query([], info: #","notificationInfo":{"additionalFields":[\#(names)]}"#),
      isRefused: isRefused, "names more than 3 fields")
  }

  /// Fixed limit: localisation arguments of a subscription
  @Test(arguments: [(19, false), (20, false), (21, true)])
  func `a list of localisation arguments has at most 20 items`(count: Int, isRefused: Bool)
    async throws
  {
    let names = Array(repeating: "\"a\"", count: count).joined(separator: ",")
    try await check(
      #""subscriptionType":"database","notificationInfo":{"alertLocalizationArgs":[\#(names)]}"#,
      isRefused: isRefused, "has more than 20 items")
  }

  @Test(arguments: [(254, false), (255, false), (256, true)])
  func `names have at most 255 bytes`(bytes: Int, isRefused: Bool) async throws {
    let name = String(repeating: "n", count: bytes)
    let field = #"{"comparator":"EQUALS","fieldName":"\#(name)","fieldValue":{"value":1}}"#
    try await check(query([field]), isRefused: isRefused, "must have 1 to 255 bytes")
    try await check(
      #""subscriptionType":"query","query":{"recordType":"\#(name)"}"#, isRefused: isRefused,
      "must have 1 to 255 bytes")
  }

  /// The relay refuses only the item beyond the bound, and the reason names a remedy.
  @Test(arguments: [(-1, true), (0, false), (1, false)])
  func `the bytes of one user's subscriptions are bounded`(
    spare: Int, isRefused: Bool
  ) async throws {
    var core = Limits()
    core.subscriptionBytesPerUser = 64 + "s".utf8.count + "T".utf8.count + spare
    let found = try await refusal(query([]), core: core)
    #expect((found?.code == "THROTTLED") == isRefused)
    #expect(
      found?.reason.contains("at most \(core.subscriptionBytesPerUser) bytes") ?? !isRefused)
  }

  /// Limit: limits.valuesPerRecord
  @Test(arguments: [(9, false), (10, false), (11, true)])
  func `the number of values in one record is bounded`(count: Int, isRefused: Bool) async throws {
    var limits = Rig.atOnce
    limits.valuesPerRecord = 10
    let single = (0..<count).map { #""f\#($0)":{"value":1}"# }.joined(separator: ",")
    let list = Array(repeating: "1", count: count - 2).joined(separator: ",")
    for fields in [single, #""a":{"value":[\#(list)]},"b":{"value":"x"}"#] {
      let rig = await Rig(limits: limits)
      let record = #","record":{"recordName":"A","recordType":"T","fields":{\#(fields)}}"#
      let answer = try await rig.produce("[\(Event(id: "1", record: nil, more: record).text)]")
      #expect(answer.status == (isRefused ? 400 : 202))
      #expect(!isRefused || answer.text.contains("data.record.fields has more than 10 values"))
    }
  }

  @Test(arguments: [
    (#""subscriptionType":"zone","zoneID":{"zoneName":"Z"},"zoneWide":false"#, "whole zone"),
    (#""subscriptionType":"database","zoneWide":false"#, "every zone"),
    (#""subscriptionType":"query","query":{"recordType":"T"},"zoneWide":false"#, "no zoneID"),
  ])
  func `zoneWide false is refused for a subscription that it cannot narrow`(
    members: String, reason: String
  ) async throws {
    let found = try await refusal(members)
    #expect(found?.code == "BAD_REQUEST")
    #expect(found?.reason.contains("zoneWide must not be false") == true)
    #expect(found?.reason.contains(reason) == true, "\(found?.reason ?? "saved")")
    let wide = members.replacing("false", with: "true")
    #expect(try await refusal(wide) == nil)
  }

  private static let zone = #""subscriptionType":"zone","zoneID":{"zoneName":"Z"}"#
  private static let all = #""subscriptionType":"database""#

  @Test(arguments: [
    (#","firesOn":["create"]"#, "firesOn must name create, update and delete"),
    (#","firesOn":[]"#, "firesOn must name at least one"),
    (#","firesOn":"create""#, "firesOn must be an array"),
    (#","firesOnce":true"#, "firesOnce is only for query subscriptions"),
    (
      #","query":{"filterBy":[{"comparator":"EQUALS","fieldName":"a","fieldValue":{"value":1}}]}"#,
      "query.filterBy is only for query subscriptions"
    ),
    (#","query":{"filterby":[]}"#, "filterby is unknown; write filterBy"),
  ])
  func `query options are refused for zone and database subscriptions`(
    members: String, reason: String
  ) async throws {
    for type in [Self.zone, Self.all] {
      let found = try await refusal(type + members)
      #expect(found?.code == "BAD_REQUEST")
      #expect(found?.reason.contains(reason) == true, "\(found?.reason ?? "saved")")
    }
  }

  @Test(arguments: [
    #","firesOn":["delete","create","update"],"firesOnce":false"#,
    #","firesOn":null,"firesOnce":null,"query":null"#,
    #","query":{"recordType":"T","filterBy":[],"sortBy":[]}"#,
  ])
  func `query options without effect are accepted for every type`(members: String) async throws {
    for type in [Self.zone, Self.all] { #expect(try await refusal(type + members) == nil) }
  }

  @Test func `a database subscription that names a zone is refused`() async throws {
    for database in ["private", "shared"] {
      let found = try await refusal(
        Self.all + #","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"}"#, in: database)
      #expect(found?.code == "BAD_REQUEST")
      #expect(found?.reason.contains("zoneID is not for database subscriptions") == true)
      #expect(try await refusal(Self.all + #","zoneID":null"#, in: database) == nil)
    }
  }

  /// The public database has only one zone, and a query with a `zoneID` has only that zone.
  @Test func `zoneWide false is accepted where the subscription has one zone`() async throws {
    let query = #""subscriptionType":"query","query":{"recordType":"T"},"zoneWide":false"#
    #expect(try await refusal(query, in: "public") == nil)
    #expect(try await refusal(query + #","zoneID":{"zoneName":"Z"}"#) == nil)
  }
}
