import Foundation
import HTTPTypes
import RelayCore
import RelayWire
import Testing

@testable import RelayHTTP

/// Texts that are slow to compare: a letter with thousands of marks in an order that Unicode must
/// sort. Swift's `==` and hashes normalise, which takes four times as long for twice the text: 17 s
/// for 240 KB. The relay compares every caller's text byte by byte, so such a text costs the same
/// as any text of its length.
@Suite struct SlowTextTests {
  private static let marks = 12_000
  private static let slow = "a" + String(repeating: "\u{316}\u{301}", count: marks)
  private static let plain = String(repeating: "a", count: slow.utf8.count)

  /// The CPU time that `body` takes in this process, in milliseconds: the least of three tries, or
  /// the first that is below `enough`.
  private func cost(
    enough: Double = 0, _ body: () async throws -> Void
  ) async rethrows -> Double {
    func now() -> Double {
      var time = timespec()
      clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
      return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
    }
    var least = Double.infinity
    for _ in 0..<3 where least >= enough {
      let before = now()
      try await body()
      least = min(least, now() - before)
    }
    return least
  }

  /// With a slow comparison the slow text takes some 700 ms, and a hundred times as long as the
  /// plain one. Other threads of this process may use some milliseconds meanwhile.
  private func expectAlike(
    _ ask: (String) async throws -> Void, _ location: SourceLocation = #_sourceLocation
  ) async throws {
    let plain = try await cost { try await ask(Self.plain) }
    let most = plain * 10 + 100
    let slow = try await cost(enough: most) { try await ask(Self.slow) }
    #expect(slow < most, "\(slow) ms for \(plain) ms", sourceLocation: location)
  }

  private static let subscription = #""subscriptionID":"s","subscriptionType":"query""#

  /// JSON members whose value the relay compares with words or names that it knows.
  @Test(arguments: [
    #"{"operations":[{"operationType":"TEXT","subscription":{}}]}"#,
    #"{"operations":[{"operationType":"create","subscription":{"subscriptionType":"TEXT"}}]}"#,
    member(#""firesOn":["TEXT"]"#, ""), member("", #","sortBy":[{"fieldName":"TEXT"}]"#),
    filter(#""comparator":"TEXT","fieldName":"f","fieldValue":{"value":1}"#),
    filter(#""comparator":"EQUALS","systemFieldName":"TEXT","fieldValue":{"value":1}"#),
    filter(#""comparator":"EQUALS","fieldName":"TEXT","fieldValue":{"value":1}"#),
    filter(#""comparator":"EQUALS","fieldName":"f","fieldValue":{"value":1,"type":"TEXT"}"#),
    filter(#""comparator":"IN","fieldName":"f","fieldValue":{"value":[1],"type":"TEXT"}"#),
    filter(#""comparator":"EQUALS","fieldName":"f","fieldValue":{"value":"TEXT"}"#),
    filter(
      #""comparator":"EQUALS","fieldName":"f","fieldValue":{"value":{"recordName":"TEXT","#
        + #""zoneID":{"zoneName":"TEXT","ownerRecordName":"TEXT"}},"type":"REFERENCE"}"#),
  ])
  func `a slow text in a subscription takes no extra CPU time`(body: String) async throws {
    let rig = await Rig()
    try await expectAlike {
      _ = try await rig.database("subscriptions/modify", body.replacing("TEXT", with: $0))
    }
  }

  private static func member(_ member: String, _ query: String) -> String {
    #"{"operations":[{"operationType":"create","subscription":{\#(subscription),"#
      + #""query":{"recordType":"T"\#(query)}\#(member.isEmpty ? "" : ",\(member)")}}]}"#
  }

  private static func filter(_ filter: String) -> String {
    member("", #","filterBy":[{\#(filter)}]"#)
  }

  @Test(arguments: [
    ("tokens/register", #"{"apnsEnvironment":"TEXT","apnsToken":"00"}"#),
    ("tokens/register", #"{"apnsEnvironment":"development","apnsToken":"TEXT"}"#),
    ("tokens/register", #"{"transport":"TEXT"}"#),
    ("tokens/create", #"{"apnsEnvironment":"development","clientId":"TEXT"}"#),
    ("notifications/changes", #"{"syncToken":"TEXT"}"#),
    ("notifications/markRead", #"{"notificationIDs":["TEXT"]}"#),
    ("notifications/changes", #"{"TEXT":1}"#),
  ])
  func `a slow text in a device's request takes no extra CPU time`(path: String, body: String)
    async throws
  {
    let rig = await Rig()
    try await expectAlike {
      _ = try await rig.device(path, body.replacing("TEXT", with: $0))
    }
  }

  @Test(arguments: [
    #"{"zones":[{"zoneID":{"zoneName":"Z"},"desiredRecordTypes":["TEXT","TEXTb"]}]}"#,
    #"{"zones":[{"zoneID":{"zoneName":"TEXT"}}]}"#,
    #"{"zones":[{"zoneID":{"zoneName":"Z","ownerRecordName":"TEXT"}}]}"#,
    #"{"zones":[{"zoneID":{"zoneName":"Z"},"syncToken":"TEXT"}]}"#,
  ])
  func `a slow text in a fetch of zone changes takes no extra CPU time`(body: String) async throws {
    let rig = await Rig()
    try await expectAlike {
      _ = try await rig.database("changes/zone", body.replacing("TEXT", with: $0))
    }
  }

  @Test(arguments: [
    event(type: "TEXT"), event(version: "TEXT"), event(database: "TEXT"), event(id: "TEXT"),
    event(fields: #""TEXT":{"value":1}"#), event(fields: #""f":{"value":"TEXT"}"#),
    event(fields: #""f":{"value":1,"type":"TEXT"}"#), event(fields: #""f":{"TEXT":1}"#),
    event(fields: #""f":{"value":{"fileChecksum":"TEXT"}}"#), event(source: "TEXT"),
  ])
  func `a slow text in a producer's event takes no extra CPU time`(body: String) async throws {
    let rig = await Rig()
    try await expectAlike {
      _ = try await rig.send(
        .post, "/events/1/\(Rig.container)/development", body.replacing("TEXT", with: $0),
        bearer: Rig.producerKey, headers: [.contentType: "application/cloudevents+json"])
    }
  }

  private static func event(
    type: String = "zonerelay.record.created", version: String = "1.0",
    database: String = "private", id: String = "1", source: String = "/s", fields: String = ""
  ) -> String {
    #"{"specversion":"\#(version)","id":"\#(id)","source":"\#(source)","type":"\#(type)","data":"#
      + #"{"database":"\#(database)","zoneID":{"zoneName":"Z","ownerRecordName":"_abc"},"#
      + #""record":{"recordName":"r","recordType":"T","fields":{\#(fields)}}}}"#
  }

  /// The caller sends `syncToken` and `metaSyncToken`, and the relay compares the two texts.
  @Test func `a slow token under both of its names takes no extra CPU time`() async throws {
    let rig = await Rig()
    try await expectAlike { text in
      _ = try await rig.database(
        "zones/changes", #"{"syncToken":"\#(text)","metaSyncToken":"\#(text)b"}"#)
    }
  }

  /// The refusal names the field by its place, because the field's name may be as long as the
  /// event.
  @Test(arguments: [(bytes: 254, isTaken: true), (255, true), (256, false)])
  func `a field's name has at most 255 bytes`(bytes: Int, isTaken: Bool) async throws {
    let name = String(repeating: "n", count: bytes)
    let answer = try await Rig().send(
      .post, "/events/1/\(Rig.container)/development",
      Self.event(fields: #""a":{"value":1},"\#(name)":{"value":1}"#), bearer: Rig.producerKey,
      headers: [.contentType: "application/cloudevents+json"])
    #expect(answer.status == (isTaken ? 202 : 400))
    #expect(answer.text.contains("bad name at place 1") == !isTaken)
  }

  /// The relay reads these paths before it checks credentials. The test puts a slow text in the
  /// place of `TEXT`, with percent escapes. What a caller sends there may be almost as long as the
  /// largest head of a request.
  @Test(arguments: [
    "/database/1/TEXT/development/private/zones/list", "/device/1/c/TEXT/tokens/list",
    "/database/1/\(Rig.container)/development/TEXT/zones/list",
    "/database/1/\(Rig.container)/development/private/TEXT/list", "/TEXT/1/c", "/courier/1/TEXT",
    "/courier/TEXT/c", "/health/TEXT",
    "/database/1/\(Rig.container)/development/private/zones/list?TEXT=1",
    "/database/1/\(Rig.container)/development/private/zones/list?ckWebAuthToken=TEXT",
  ])
  func `a slow text in a path without credentials takes no extra CPU time`(path: String)
    async throws
  {
    let rig = await Rig()
    let escaped = [Self.plain, Self.slow].map { text in
      text.utf8.map { "%" + String($0, radix: 16) }.joined()
    }
    try await expectAlike { text in
      let escaped = escaped[text.utf8.last == UInt8(ascii: "a") ? 0 : 1]
      _ = try await rig.send(.get, path.replacing("TEXT", with: escaped))
    }
  }

  /// The relay reads a JWT's header before it checks the signature, so this text needs no
  /// credentials.
  @Test func `a slow text in an unverified token takes no extra CPU time`() async throws {
    let rig = await Rig()
    try await expectAlike { text in
      let part = String(Substring(text.unicodeScalars.prefix(2_000)))
      let header = Base64.urlText(Array(#"{"alg":"\#(part)","kid":"\#(part)"}"#.utf8))
      _ = try await rig.send(.post, Self.path, "{}", bearer: "\(header).e30.AAAA")
    }
  }

  private static let path = "/database/1/\(Rig.container)/development/private/zones/list"

  /// Fixed limit: user token
  @Test(arguments: [(bytes: 8_191, reason: "no JWT"), (8_192, "no JWT"), (8_193, "8192 bytes")])
  func `a user token has at most 8,192 bytes`(bytes: Int, reason: String) async throws {
    let token = String(repeating: "a", count: bytes)
    let answer = try await Rig().send(.post, Self.path, "{}", bearer: token)
    #expect(answer.status == 401 && answer.text.contains(reason))
  }
}
