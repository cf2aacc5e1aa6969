import RelayCore
import Testing

@testable import RelayPush

@Suite struct APNsRequestTests {
  private func values(_ push: Push, bearer: String? = "bearer x.y.z") -> [String: String] {
    let request = APNsRequest.make(push, topic: "com.example.notes", bearer: bearer)
    var values: [String: String] = [:]
    request.forEachValue { index, bytes, count in
      let name = index == 0 ? ":path" : APNsRequest.shape.fields[index - 1].name
      values[name] = String(
        decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
    return values
  }

  /// Headers follow from the intent, so push type and priority cannot disagree.
  @Test func `a background push has type background and priority 5`() {
    let push = Push.sample(intent: .background, collapse: "wake")
    #expect(
      values(push) == [
        ":path": "/3/device/00ff10", "authorization": "bearer x.y.z",
        "apns-id": push.id.text, "apns-topic": "com.example.notes",
        "apns-push-type": "background", "apns-priority": "5", "apns-expiration": "1700000000",
        "apns-collapse-id": "wake",
      ])
  }

  @Test func `an alert has type alert, priority 10 and no header without a value`() {
    let found = values(Push.sample(intent: .alert, collapse: nil), bearer: nil)
    #expect(found["apns-push-type"] == "alert")
    #expect(found["apns-priority"] == "10")
    #expect(found["apns-collapse-id"] == nil)
    #expect(found["authorization"] == nil)
    #expect(found.count == 6)
  }

  @Test func `the request's body is the push's payload`() {
    let request = APNsRequest.make(.sample(), topic: "t", bearer: nil)
    let body = UnsafeBufferPointer(start: request.body, count: request.bodyCount)
    #expect(Array(body) == Push.sample().payload)
  }

  @Test func `a request holds a collapse id of 64 bytes and the latest deadline`() {
    var push = Push.sample(collapse: String(repeating: "c", count: 64))
    push.expires = Instant(milliseconds: .max)
    #expect(values(push)["apns-expiration"] == "9223372036854775")
  }
}

extension Push {
  static func sample(
    number: UInt64 = 1, token: [UInt8] = [0x00, 0xff, 0x10], intent: Intent = .background,
    collapse: String? = nil, payload: String = #"{"aps":{"content-available":1}}"#
  ) -> Push {
    Push(
      id: Identifier(high: 0x4000, low: 0x8000_0000_0000_0000 + number),
      address: Address(transport: .apns, topic: "com.example.notes", token: token),
      intent: intent, expires: Instant(milliseconds: 1_700_000_000_999), collapse: collapse,
      payload: Array(payload.utf8))
  }
}
