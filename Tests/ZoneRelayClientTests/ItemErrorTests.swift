import Foundation
import Testing
import ZoneRelayTesting
@testable import ZoneRelayClient

/// Errors of single items, in an answer that is no error.
@Suite struct ItemErrorTests {
  private static let zones = ["A", "B"].map { ZoneID(name: $0, owner: "_alice") }
  private static func json(_ zone: ZoneID) -> String {
    #"{"zoneName":"\#(zone.name)","ownerRecordName":"\#(zone.owner)"}"#
  }

  @Test(arguments: ["THROTTLED", "TRY_AGAIN_LATER"])
  func `a zone or a subscription that must wait is no refusal`(code: String) async throws {
    let error = #""serverErrorCode":"\#(code)""#
    let rig = try Rig(transport: ItemTransport(zones: error, subscription: error))
    let results = try await rig.client.prepare([.database("all", .private)])
    #expect(results.map(\.error?.code) == [.busy])
    #expect(results.map(\.error?.retryAfter) == [nil])
    let failure = await #expect(throws: RelayError.self) {
      try await rig.client.fetchAllChanges(.database(.private))
    }
    #expect(failure?.code == .busy)
  }

  @Test func `the longest wait that a zone asks for is the wait of the client`() async throws {
    let error = #""serverErrorCode":"TRY_AGAIN_LATER","retryAfter""#
    let rig = try Rig(transport: ItemTransport(zones: "\(error):30", "\(error):7"))
    for _ in 1...2 {
      let failure = await #expect(throws: RelayError.self) {
        try await rig.client.fetchAllChanges(.database(.private))
      }
      #expect(failure?.retryAfter == .seconds(33))
    }
    #expect(rig.clock.sleeps == [.seconds(33)])
  }

  @Test func `a zone that is refused names no wait`() async throws {
    let error = #""serverErrorCode":"BAD_REQUEST","retryAfter":30"#
    let rig = try Rig(transport: ItemTransport(zones: error))
    let report = try await rig.client.fetchAllChanges(.database(.private))
    #expect(report.failures.values.map(\.retryAfter) == [nil, nil])
  }

  /// The relay has no room for the subscription `full`.
  @Test func `a subscription is not sent again before the time that the relay has named`()
    async throws
  {
    let full = #""serverErrorCode":"THROTTLED","reason":"full","retryAfter":3600"#
    let transport = ItemTransport(subscription: full)
    let rig = try Rig(transport: transport)
    let wanted: [Subscription] = [.database("full", .private), .zone("b", Rig.notes)]
    var results = try await rig.client.prepare(wanted)
    #expect(results.map(\.id) == ["full", "b"])
    #expect(results.map(\.error?.code) == [.busy, nil])
    #expect(results[0].error?.retryAfter == .seconds(3_600))
    #expect(await transport.subscriptions == [["full", "b"]])
    rig.clock.pass(.seconds(600))
    results = try await rig.client.prepare(wanted)
    #expect(results.map(\.id) == ["full", "b"])
    #expect(results.map(\.error?.retryAfter) == [.seconds(3_000), nil])
    #expect(results[0].error?.message == "subscription full: THROTTLED: full")
    #expect(try await rig.client.prepare([wanted[0]]).map(\.error?.code) == [.busy])
    #expect(await transport.subscriptions == [["full", "b"], ["b"]])
    #expect(rig.clock.sleeps.isEmpty, "nothing else waits")
    rig.clock.pass(.seconds(3_000))
    _ = try await rig.client.prepare(wanted)
    #expect(await transport.subscriptions.last == ["full", "b"])
  }

  @Test func `another subscription, and one after a removal, is sent at once`() async throws {
    let full = #""serverErrorCode":"THROTTLED","retryAfter":3600"#
    let transport = ItemTransport(subscription: full)
    let rig = try Rig(transport: transport)
    _ = try await rig.client.prepare([.database("full", .private)])
    _ = try await rig.client.prepare([.database("full", .private, recordType: "Note")])
    #expect(await transport.subscriptions == [["full"], ["full"]])
    _ = try await rig.client.remove(["old"], in: .private)
    _ = try await rig.client.prepare([.database("full", .private)])
    #expect(await transport.subscriptions == [["full"], ["full"], ["old"], ["full"]])
  }

  @Test func `what one user must wait for is no wait of the next user`() async throws {
    let full = #""serverErrorCode":"THROTTLED","retryAfter":3600"#
    let transport = ItemTransport(subscription: full)
    let rig = try Rig(transport: transport)
    _ = try await rig.client.prepare([.database("full", .private)])
    try await rig.client.signOut()
    await rig.account.signIn("_bob")
    _ = try await rig.client.prepare([.database("full", .private)])
    #expect(await transport.subscriptions == [["full"], ["full"]])
  }

  /// Answers with two zones and their errors. The subscription `full` has an error, too.
  private actor ItemTransport: RelayTransport {
    private let errors: [String], subscription: String
    private(set) var subscriptions: [[String]] = []

    init(zones errors: String..., subscription: String = "") {
      (self.errors, self.subscription) = (errors, subscription)
    }

    func send(_ request: RelayRequest) async throws -> RelayAnswer {
      let items = zip(ItemErrorTests.zones, errors + errors).map {
        "{\"zoneID\":\(ItemErrorTests.json($0)),\($1)}"
      }
      switch request.url.lastPathComponent {
      case "zone": return .json(#"{"zones":[\#(items.joined(separator: ","))]}"#)
      case "database":
        let named = ItemErrorTests.zones.map { "{\"zoneID\":\(ItemErrorTests.json($0))}" }
        return .json(#"{"zones":[\#(named.joined(separator: ","))],"syncToken":"t"}"#)
      case "modify":
        let asked = try JSONDecoder().decode(Asked.self, from: request.body ?? Data())
        let ids = asked.operations.map(\.subscription.subscriptionID)
        subscriptions.append(ids)
        let answers = ids.map { ["all", "full"].contains($0) ? "{\(subscription)}" : "{}" }
        return .json(#"{"subscriptions":[\#(answers.joined(separator: ","))]}"#)
      default: return .json(#"{"syncToken":"n"}"#)
      }
    }

    private struct Asked: Decodable {
      var operations: [Operation]
      struct Operation: Decodable { var subscription: Item }
      struct Item: Decodable { var subscriptionID: String }
    }
  }
}
