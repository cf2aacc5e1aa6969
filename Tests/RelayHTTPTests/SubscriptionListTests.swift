import HTTPTypes
import RelayCore
import RelayEngine
import RelayHTTP
import RelayWire
import Testing

/// `subscriptions/list`, page by page.
@Suite struct SubscriptionListTests {
  private func save(_ count: Int, in rig: Rig) async throws {
    for first in stride(from: 0, to: count, by: 200) {
      let operations = (first..<min(count, first + 200)).map {
        #"{"operationType":"create","subscription":{"subscriptionID":"s\#($0)","#
          + #""subscriptionType":"query","query":{"recordType":"T\#($0)"}}}"#
      }
      _ = try await rig.database(
        "subscriptions/modify", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
    }
  }

  /// The ids of each page.
  private func pages(
    _ rig: Rig, _ next: (String?) async throws -> Rig.Answer
  ) async throws -> [[String?]] {
    var pages: [[String?]] = []
    var marker: String?
    repeat {
      let answer = try await next(marker)
      #expect(answer.status == 200)
      pages.append(try answer.each("subscriptions", "subscriptionID"))
      let isMore = try answer.json.optional("moreComing")?.boolean() ?? false
      marker = try answer.json.optional("continuationMarker")?.string()
      #expect(isMore == (marker != nil))
    } while marker != nil && pages.count < 9
    return pages
  }

  @Test(arguments: [(199, [199]), (200, [200]), (201, [200, 1]), (401, [200, 200, 1])])
  func `a page has at most 200 subscriptions, and its marker gives the next page`(
    count: Int, lengths: [Int]
  ) async throws {
    let rig = await Rig()
    try await save(count, in: rig)
    let all = (0..<count).map { Optional("s\($0)") }
    let posted = try await pages(rig) { marker in
      let body = marker.map { #"{"continuationMarker":"\#($0)"}"# } ?? "{}"
      return try await rig.database("subscriptions/list", body)
    }
    #expect(posted.map(\.count) == lengths && posted.flatMap { $0 } == all)
    let token = try await Rig.token(for: "_abc")
    let path = "/database/1/\(Rig.container)/development/private/subscriptions/list"
    let gotten = try await pages(rig) { marker in
      let query = marker.map { "?continuationMarker=\($0)" } ?? ""
      return try await rig.send(.get, path + query, bearer: token)
    }
    #expect(gotten == posted)
  }

  @Test func `resultsLimit makes shorter pages, in the body and in the query`() async throws {
    let rig = await Rig()
    try await save(3, in: rig)
    let first = try await rig.database("subscriptions/list", #"{"resultsLimit":2}"#)
    #expect(try first.each("subscriptions", "subscriptionID") == ["s0", "s1"])
    let large = try await rig.database("subscriptions/list", #"{"resultsLimit":9999}"#)
    #expect(try large.each("subscriptions", "subscriptionID").count == 3)
    let token = try await Rig.token(for: "_abc")
    let path = "/database/1/\(Rig.container)/development/private/subscriptions/list"
    let one = try await rig.send(.get, path + "?resultsLimit=1", bearer: token)
    #expect(try one.each("subscriptions", "subscriptionID") == ["s0"])
    for bad in ["0", "-1", "x"] {
      let answer = try await rig.send(.get, path + "?resultsLimit=\(bad)", bearer: token)
      #expect(answer.status == 400 && answer.text.contains("resultsLimit"))
    }
    let none = try await rig.database("subscriptions/list", #"{"resultsLimit":0}"#)
    #expect(none.status == 400 && none.text.contains("resultsLimit"))
  }

  @Test(
    arguments: [
      "9223372036854775807", "9223372036854775808", "1e19", "99999999999999999999", "1e400",
    ])
  func `a resultsLimit beyond 64 bits is taken as the largest page`(limit: String) async throws {
    let rig = await Rig()
    try await save(3, in: rig)
    for endpoint in ["subscriptions/list", "zones/list", "changes/database"] {
      let answer = try await rig.database(endpoint, #"{"resultsLimit":\#(limit)}"#)
      #expect(answer.status == 200, "\(endpoint): \(answer.text)")
    }
    let lower = try await rig.database("subscriptions/list", #"{"resultsLimit":-\#(limit)}"#)
    #expect(lower.status == 400 && lower.text.contains("resultsLimit must be at least 1"))
    guard !limit.contains("e") else { return }
    let path = "/database/1/\(Rig.container)/development/private/subscriptions/list"
    let gotten = try await rig.send(
      .get, path + "?resultsLimit=\(limit)", bearer: try await Rig.token(for: "_abc"))
    #expect(try gotten.each("subscriptions", "subscriptionID").count == 3)
  }

  @Test(arguments: ["1.5", "-1", "0", "1e-400", "\"1\"", "[]"])
  func `a resultsLimit that is no whole number above 0 is refused`(limit: String) async throws {
    let rig = await Rig()
    let answer = try await rig.database("changes/database", #"{"resultsLimit":\#(limit)}"#)
    #expect(answer.status == 400 && answer.text.contains("resultsLimit must be"))
  }

  /// Deletions, changes and additions between two pages move no other subscription.
  @Test func `a list continues at its marker while subscriptions change`() async throws {
    let rig = await Rig()
    try await save(4, in: rig)
    let first = try await rig.database("subscriptions/list", #"{"resultsLimit":2}"#)
    let marker = try #require(try first.json.optional("continuationMarker")?.string())
    _ = try await rig.database(
      "subscriptions/modify",
      #"{"operations":[{"operationType":"delete","subscription":{"subscriptionID":"s1"}},"#
        + #"{"operationType":"update","subscription":{"subscriptionID":"s0","#
        + #""subscriptionType":"query","query":{"recordType":"U"}}},"#
        + #"{"operationType":"create","subscription":{"subscriptionID":"new","#
        + #""subscriptionType":"query","query":{"recordType":"V"}}}]}"#)
    let rest = try await rig.database(
      "subscriptions/list", #"{"continuationMarker":"\#(marker)"}"#)
    #expect(try rest.each("subscriptions", "subscriptionID") == ["s2", "s3", "new"])
  }

  @Test(arguments: [#""x""#, #""""#, "7", #""AAAAAAAAAAAAAAAA""#])
  func `an invalid continuation marker is refused`(marker: String) async throws {
    let answer = try await Rig().database(
      "subscriptions/list", #"{"continuationMarker":\#(marker)}"#)
    #expect(answer.status == 400 && answer.text.contains("BAD_REQUEST"))
    #expect(answer.text.contains("continuationMarker"))
  }
}
