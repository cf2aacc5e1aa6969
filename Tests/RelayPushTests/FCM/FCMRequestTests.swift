import Foundation
import RelayCore
import Testing

@testable import RelayPush

@Suite struct FCMRequestTests {
  private static let now = Instant(milliseconds: 1_700_000_000_000)

  private static func body(
    _ payload: String, intent: Push.Intent = .background, lives: Span = .seconds(90),
    collapse: String? = "c"
  ) -> String {
    let push = Push(
      id: Identifier(high: 1, low: 2),
      address: Address(transport: .fcm, topic: "p", token: Array("t:1".utf8)), intent: intent,
      expires: now + lives, collapse: collapse, payload: Array(payload.utf8))
    return String(decoding: FCMRequest.body(push, at: now), as: UTF8.self)
  }

  @Test func `a push becomes a data-only message`() {
    #expect(
      Self.body(#"{"aps":{"content-available":1},"ck":{"x":"a,\"b}"},"zr":{"w":1}}"#)
        == #"{"message":{"token":"t:1","data":{"aps":"{\"content-available\":1}","#
        + #""ck":"{\"x\":\"a,\\\"b}\"}","zr":"{\"w\":1}"},"#
        + #""android":{"priority":"NORMAL","ttl":"90s","collapse_key":"c"}}}"#)
    #expect(
      Self.body(#"{"aps":{}}"#, intent: .alert, lives: .zero, collapse: nil)
        == #"{"message":{"token":"t:1","data":{"aps":"{}"},"#
        + #""android":{"priority":"HIGH","ttl":"0s"}}}"#)
  }

  @Test(arguments: [
    (3_500, "3.5s"), (3_000, "3s"), (1, "0.001s"), (10, "0.01s"), (0, "0s"), (61_234, "61.234s"),
  ])
  func `a TTL is written in seconds`(milliseconds: Int64, text: String) {
    #expect(FCMRequest.seconds(Span(milliseconds: milliseconds)) == text)
  }

  @Test func `a TTL is kept between zero and four weeks`() {
    #expect(Self.body("{}", lives: .seconds(-1)).contains(#""ttl":"0s""#))
    #expect(Self.body("{}", lives: .days(60)).contains(#""ttl":"2419200s""#))
  }

  @Test(arguments: ["", "{", "{}", "[]", "nonsense", "\"", "{\"a\":", "}{", ":::,,,"])
  func `an empty or malformed payload has no members`(payload: String) {
    #expect(FCMRequest.members(of: Array(payload.utf8)).isEmpty)
  }

  @Test func `a payload's values may be of any JSON type`() {
    let members = FCMRequest.members(of: Array(#"{"a":1,"b":[1,{"c":2}],"d":"x","e":null}"#.utf8))
    #expect(members.map(\.name) == ["a", "b", "d", "e"])
    #expect(members.map(\.value) == ["1", #"[1,{"c":2}]"#, #""x""#, "null"])
  }

  @Test func `the request's path contains the project`() {
    let push = Push(
      id: Identifier(high: 1, low: 2),
      address: Address(transport: .fcm, topic: "p", token: [97]), intent: .alert,
      expires: Self.now, collapse: nil, payload: Array("{}".utf8))
    let request = FCMRequest.make(push, project: "notes-1", token: "ya29.x", at: Self.now)
    var values: [String] = []
    request.forEachValue { _, bytes, count in
      values.append(
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self))
    }
    #expect(
      values == ["/v1/projects/notes-1/messages:send", "Bearer ya29.x", "application/json"])
  }
}
