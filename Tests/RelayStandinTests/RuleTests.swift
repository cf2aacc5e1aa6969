import Crypto
import Foundation
import NIOHPACK
import Testing

@testable import RelayStandin

/// Tests, over a real connection, every rule that Apple documents.
@Suite struct RuleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var what: String
    var method = "POST"
    var path = StandinWorld.path
    var changes: [String: String?] = [:]
    var body = StandinWorld.background
    var status: Int
    var reason: String?
    var testDescription: String { what }
  }

  static let alert: [String: String?] = ["apns-push-type": "alert", "apns-priority": "10"]
  static let long = "{\"aps\":{\"alert\":\"\(String(repeating: "a", count: 4_100))\"}}"
  static let full = "{\"aps\":{\"alert\":\"\(String(repeating: "a", count: 4_075))\"}}"

  static let cases: [Case] = [
    Case(what: "a good background push", status: 200),
    Case(what: "a good alert", changes: alert, body: StandinWorld.alert, status: 200),
    Case(
      what: "a good alert without a priority",
      changes: ["apns-push-type": "alert", "apns-priority": nil],
      body: StandinWorld.alert, status: 200),
    Case(what: "another method", method: "PUT", status: 405, reason: "MethodNotAllowed"),
    Case(what: "another path", path: "/4/device/ab", status: 404, reason: "BadPath"),
    Case(what: "a path with more", path: "/3/device/ab/cd", status: 404, reason: "BadPath"),
    Case(what: "no device token", path: "/3/device/", status: 400, reason: "MissingDeviceToken"),
    Case(
      what: "a token that is not hex", path: "/3/device/xyz", status: 400,
      reason: "BadDeviceToken"),
    Case(what: "no topic", changes: ["apns-topic": nil], status: 400, reason: "MissingTopic"),
    Case(what: "no topic's form", changes: ["apns-topic": "a b"], status: 400, reason: "BadTopic"),
    Case(
      what: "no push type", changes: ["apns-push-type": nil], status: 400,
      reason: "InvalidPushType"),
    Case(
      what: "an unknown push type", changes: ["apns-push-type": "loud"], status: 400,
      reason: "InvalidPushType"),
    Case(
      what: "background with an alert in it", body: StandinWorld.alert, status: 400,
      reason: "InvalidPushType"),
    Case(
      what: "background with content and a badge",
      body: #"{"aps":{"content-available":1,"badge":1}}"#, status: 400, reason: "InvalidPushType"),
    Case(
      what: "an alert that shows nothing", changes: alert, status: 400, reason: "InvalidPushType"),
    Case(
      what: "background with priority 10", changes: ["apns-priority": "10"], status: 400,
      reason: "BadPriority"),
    Case(
      what: "background without a priority", changes: ["apns-priority": nil], status: 400,
      reason: "BadPriority"),
    Case(
      what: "priority 7", changes: ["apns-priority": "7"], status: 400, reason: "BadPriority"),
    Case(
      what: "an expiration in words", changes: ["apns-expiration": "tomorrow"], status: 400,
      reason: "BadExpirationDate"),
    Case(what: "expiration 0", changes: ["apns-expiration": "0"], status: 200),
    Case(
      what: "an id in capitals", changes: ["apns-id": "3F6C1A52-9D0E-4B6F-8A75-0C1D2E3F4A5B"],
      status: 400, reason: "BadMessageId"),
    Case(
      what: "an id of another form", changes: ["apns-id": "17"], status: 400, reason: "BadMessageId"
    ),
    Case(
      what: "a collapse id of 65 bytes",
      changes: ["apns-collapse-id": String(repeating: "c", count: 65)], status: 400,
      reason: "BadCollapseId"),
    Case(
      what: "a collapse id of 64 bytes",
      changes: ["apns-collapse-id": String(repeating: "c", count: 64)], status: 200),
    Case(what: "an empty body", body: "", status: 400, reason: "PayloadEmpty"),
    Case(what: "an empty object", body: "{}", status: 400, reason: "PayloadEmpty"),
    Case(what: "a body that is no JSON", body: "aps", status: 400, reason: "PayloadEmpty"),
    Case(
      what: "a body above 4096", changes: alert, body: long, status: 413,
      reason: "PayloadTooLarge"),
    Case(what: "a body of 4096", changes: alert, body: full, status: 200),
  ]

  @Test(arguments: cases)
  func `the stand-in answers each request as Apple documents`(_ rule: Case) async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      let answer = try await client.send(
        rule.method, rule.path, world.headers(rule.changes), rule.body)
      #expect(answer.status == rule.status)
      #expect(answer.reason == rule.reason)
      if rule.reason != "BadMessageId" {
        #expect(answer.headers.first(name: "apns-id") == "3f6c1a52-9d0e-4b6f-8a75-0c1d2e3f4a5b")
      }
      let line = try #require(world.lines().last)
      #expect(line.status == rule.status && line.reason == rule.reason && line.path == rule.path)
      try await client.close()
    }
  }

  @Test func `a request with the same header twice is refused`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      let headers = try world.headers() + [("apns-topic", "com.example.other")]
      let answer = try await client.send(
        "POST", StandinWorld.path, headers, StandinWorld.background)
      #expect(answer.reason == "DuplicateHeaders")
      try await client.close()
    }
  }

  @Test func `the stand-in gives an ID to a push without one`() async throws {
    try await StandinWorld.run { world in
      let client = try await world.connect()
      let answer = try await client.send(
        "POST", StandinWorld.path, world.headers(["apns-id": nil]), StandinWorld.background)
      let id = try #require(answer.headers.first(name: "apns-id"))
      #expect(UUID(uuidString: id) != nil && id == id.lowercased())
      try await client.close()
    }
  }

  @Test func `every reason has the status that Apple documents`() {
    let statuses = Dictionary(grouping: APNsReason.allCases, by: \.status).mapValues(\.count)
    #expect(
      statuses == [400: 14, 403: 6, 404: 1, 405: 1, 410: 2, 413: 1, 429: 2, 500: 1, 503: 2])
  }
}
